import type { FastifyInstance } from 'fastify';
import { getAddress, isAddress } from 'viem';
import type { Node } from '../chain/node.ts';
import { readToken } from '../chain/token.ts';
import { Refusal } from '../server.ts';

/** Interface B below the given instance's prefix. `cataloged` addresses may be in any case. */
export function explorerRoutes(server: FastifyInstance, node: Node, cataloged: readonly string[]): void {
  const catalog = new Set(cataloged.map((address) => address.toLowerCase()));
  server.get<{ Querystring: Record<string, unknown> }>('/', async (request) => {
    const { module, action, contractaddress: given } = request.query;
    if (!isNamed(module, 'token') || !isNamed(action, 'gettoken')) {
      throw new Refusal(400, 'Unknown module or action: only module=token&action=getToken is supported');
    }
    if (given === undefined || given === '') return refused('Query parameter contract address is required');
    if (typeof given !== 'string' || !isAddress(given, { strict: false })) {
      return refused('Invalid contract address hash');
    }
    const address = getAddress(given);
    const token = await readToken(node, address);
    if (token === null) return refused('Contract address not found');
    const result = {
      cataloged: catalog.has(address.toLowerCase()),
      contractAddress: address.toLowerCase(),
      decimals: token.decimals?.toString() ?? '',
      name: token.name ?? '',
      symbol: token.symbol ?? '',
      totalSupply: token.totalSupply?.toString() ?? '',
      type: token.type,
    };
    return { status: '1', message: 'OK', result };
  });
}

const isNamed = (given: unknown, name: string): boolean => typeof given === 'string' && given.toLowerCase() === name;

const refused = (message: string) => ({ status: '0', message, result: null });
