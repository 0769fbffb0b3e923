import { type Hex, hexToBytes, numberToBytes } from 'viem';

/** A transaction that creates a contract runs its data as code: so a test can make a transaction do anything. */

/** Bytes of code; those that need data of their own (code to create) get it behind the program. */
export interface Step {
  /** Code that may copy `data` from `offset`; its length does not depend on the offset. */
  code(offset: number): Uint8Array;
  data?: Uint8Array;
}

const STOP = 0x00;
const CODECOPY = 0x39;
const POP = 0x50;
const JUMP = 0x56;
const JUMPDEST = 0x5b;
const PUSH1 = 0x60;
const PUSH2 = 0x61;
const GAS = 0x5a;
const LOG0 = 0xa0;
const CREATE = 0xf0;
const CALL = 0xf1;
const CALLCODE = 0xf2;
const DELEGATECALL = 0xf4;
const CREATE2 = 0xf5;
const STATICCALL = 0xfa;
const REVERT = 0xfd;
const INVALID = 0xfe;
const SELFDESTRUCT = 0xff;

const join = (...parts: (number | Uint8Array)[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...part])));
const push = (value: bigint | number | Hex): Uint8Array => {
  const bytes = typeof value === 'string' ? hexToBytes(value) : numberToBytes(value);
  return join(PUSH1 + bytes.length - 1, bytes);
};
const push2 = (value: number): Uint8Array => Uint8Array.of(PUSH2, value >> 8, value & 0xff);
const plain = (...parts: (number | Uint8Array)[]): Step => ({ code: () => join(...parts) });

/** Returns a program's bytes; it stops at its end. */
export function program(...steps: Step[]): Uint8Array {
  const length = steps.reduce((sum, step) => sum + step.code(0).length, 1);
  let offset = length;
  const code: Uint8Array[] = [];
  for (const step of steps) {
    code.push(step.code(offset));
    offset += step.data?.length ?? 0;
  }
  return join(...code, STOP, ...steps.flatMap(({ data }) => data ?? []));
}

export const pay = (to: Hex, wei: bigint): Step =>
  plain(push(0), push(0), push(0), push(0), push(wei), push(to), GAS, CALL, POP);
const withData = (data: Uint8Array, ...rest: (number | Uint8Array)[]): Step => ({
  data,
  code: (offset) => join(push2(data.length), push2(offset), push(0), CODECOPY, ...rest),
});
export const call = (to: Hex, wei: bigint, data: Uint8Array): Step =>
  withData(data, push(0), push(0), push2(data.length), push(0), push(wei), push(to), GAS, CALL, POP);
/** Runs another contract's code with coins of its own, which stay where they are. */
export const callCode = (to: Hex, wei: bigint): Step =>
  plain(push(0), push(0), push(0), push(0), push(wei), push(to), GAS, CALLCODE, POP);
export const delegateCall = (to: Hex): Step =>
  plain(push(0), push(0), push(0), push(0), push(to), GAS, DELEGATECALL, POP);
export const staticCall = (to: Hex): Step => plain(push(0), push(0), push(0), push(0), push(to), GAS, STATICCALL, POP);
export const create = (init: Uint8Array, wei: bigint): Step =>
  withData(init, push2(init.length), push(0), push(wei), CREATE, POP);
export const create2 = (init: Uint8Array, wei: bigint, salt: bigint): Step =>
  withData(init, push(salt), push2(init.length), push(0), push(wei), CREATE2, POP);
export const log = (topics: readonly Hex[], data: Uint8Array): Step =>
  withData(data, ...topics.toReversed().map(push), push2(data.length), push(0), LOG0 + topics.length);
export const selfDestruct = (heir: Hex): Step => plain(push(heir), SELFDESTRUCT);
export const revert = (): Step => plain(push(0), push(0), REVERT);
export const invalid = (): Step => plain(INVALID);
/** Runs until its gas is used up. Only as a program's first step. */
export const loop = (): Step => plain(JUMPDEST, push(0), JUMP);
/** Returns code that does `steps` whenever it is called: for a contract that stays. */
export const contract = (...steps: Step[]): Uint8Array => {
  const body = program(...steps);
  const prefix = (offset: number) =>
    join(push2(body.length), push2(offset), push(0), CODECOPY, push2(body.length), push(0), 0xf3);
  return join(prefix(prefix(0).length), body);
};
