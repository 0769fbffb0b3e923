import fastify from 'fastify';
import { getAddress, keccak256, parseEther, toBytes } from 'viem';
import type { Driver } from '../driver.ts';
import type { Address } from '../types.ts';
import { Reverted } from './contracts.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { callMethod, RpcError } from './rpc.ts';

interface Request {
  id?: unknown;
  method?: unknown;
  params?: unknown;
}

/**
 * Starts the scripted chain: an in-process JSON-RPC server over a small ledger, for platforms without anvil.
 *
 * @throws when the port is in use.
 */
export async function startScripted(port: number): Promise<Driver> {
  const ledger = createLedger(Date.now);
  const accounts = Array.from({ length: 10 }, (_, index) => accountOf(index));
  for (const account of accounts) ledger.setCoins(account, parseEther('10000'));

  const server = fastify();
  server.post('/', (request) =>
    Array.isArray(request.body)
      ? request.body.map((one: Request) => respond(ledger, one))
      : respond(ledger, request.body as Request),
  );
  const rpcUrl = await server.listen({ host: '127.0.0.1', port });
  return {
    kind: 'scripted',
    rpcUrl,
    accounts,
    send: async (calls) => ledger.mine(calls),
    setCoins: async (address, wei) => ledger.setCoins(address, wei),
    close: () => server.close(),
  };
}

function accountOf(index: number): Address {
  return getAddress(`0x${keccak256(toBytes(`account ${index}`)).slice(-40)}`);
}

function respond(ledger: Ledger, { id = null, method, params }: Request): unknown {
  const frame = { jsonrpc: '2.0', id };
  try {
    return { ...frame, result: callMethod(ledger, String(method), Array.isArray(params) ? params : []) };
  } catch (error) {
    if (error instanceof RpcError) return { ...frame, error: { code: error.code, message: error.message } };
    if (error instanceof Reverted) return { ...frame, error: { code: 3, message: error.message } };
    return { ...frame, error: { code: -32602, message: 'The parameters are not valid' } };
  }
}
