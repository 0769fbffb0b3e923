import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { getAddress, isAddress } from 'viem';
import type { Node } from '../chain/node.ts';
import { readToken, type TokenRecord } from '../chain/token.ts';
import type { Address } from '../chain/transfers.ts';

/**
 * Interface B below the given instance's prefix: `?module=token&action=getToken&contractaddress=…`. All responses have
 * the shape `{ status, message, result }`.
 *
 * @param cataloged contracts that are called cataloged, in any case.
 */
export function explorerRoutes(server: FastifyInstance, node: Node, cataloged: readonly string[]): void {
  const catalog = new Set(cataloged.map((address) => address.toLowerCase()));
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode < 500) return refuse(reply, statusCode, error.message);
    request.log.error({ err: error }, 'request failed');
    return refuse(reply, 500, 'The chain cannot be read at the moment');
  });
  server.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'There is nothing at this path'));
  server.get<{ Querystring: Record<string, unknown> }>('/', async (request, reply) => {
    const { module, action, contractaddress: given } = request.query;
    if (module !== 'token' || action !== 'getToken') {
      return refuse(reply, 400, 'Unknown module or action: only module=token&action=getToken is supported');
    }
    if (given === undefined || given === '') return refuse(reply, 400, "Query parameter 'contractaddress' is required");
    if (typeof given !== 'string' || !isAddress(given, { strict: false })) {
      return refuse(reply, 200, 'Invalid contract address hash');
    }
    const address = getAddress(given);
    const token = await readToken(node, address);
    if (token === null) return refuse(reply, 200, 'Contract address not found');
    return { status: '1', message: 'OK', result: resultOf(address, token, catalog.has(address.toLowerCase())) };
  });
}

function refuse(reply: FastifyReply, status: number, message: string) {
  return reply.code(status).send({ status: '0', message, result: null });
}

function resultOf(contractAddress: Address, token: TokenRecord, cataloged: boolean) {
  return {
    cataloged,
    contractAddress,
    decimals: token.decimals?.toString() ?? '',
    name: token.name ?? '',
    symbol: token.symbol ?? '',
    totalSupply: token.totalSupply?.toString() ?? '',
    type: token.type,
  };
}
