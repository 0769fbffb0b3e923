import { databaseFile, isPostgres } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import { UserError } from '../errors.ts';
import * as postgres from '../store/postgres/open-existing.ts';
import * as sqlite from '../store/sqlite/open-existing.ts';
import type { Store } from '../store/store.ts';
import { onFile } from './on-file.ts';

/** Alerts that could not be sent (d1, d2, …) and deliveries that could not be read (q1, q2, …), also while the bot runs. */

/** The groups of the database that the commands act on. */
export type DeadLetterStore = Pick<Store, 'deadLetters' | 'quarantine'>;

/** Escapes what a terminal would not show unchanged: control characters, direction marks and broken UTF-8. */
function safe(bytes: Uint8Array | string): string {
  const text = typeof bytes === 'string' ? bytes : decode(Buffer.from(bytes));
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\n' : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** Decodes UTF-8; if the bytes are not UTF-8, writes each byte beyond ASCII as `\xNN`. */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  return [...bytes]
    .map((byte) => (byte === 10 || (byte >= 32 && byte < 127) ? String.fromCharCode(byte) : `\\x${hex(byte)}`))
    .join('');
}

const hex = (byte: number) => byte.toString(16).padStart(2, '0');
const at = (time: number) => new Date(time).toISOString();
const oneLine = (text: string) => safe(text).replaceAll('\n', ' ').slice(0, 200);

/** Names the owner of the receiver URL that got a delivery. */
function urlOf({ scope, guildId }: { scope: number; guildId: string | null }): string {
  if (guildId !== null) return `server ${guildId}`;
  return scope === OPERATOR_SCOPE ? 'operator' : `removed project ${scope}`;
}

/** Lists all of them, one per line. */
export async function list({ deadLetters, quarantine }: DeadLetterStore): Promise<string> {
  const letters = (await deadLetters.list(Number.MAX_SAFE_INTEGER)).map(({ id, kind, at: time, channelId, reason }) => {
    const what = kind === 'change' ? 'change of a sent message: ' : '';
    return `d${id}  ${at(time)}  channel ${channelId}  ${what}${oneLine(reason)}`;
  });
  const kept = (await quarantine.list()).map(
    (one) => `q${one.id}  ${at(one.receivedAt)}  ${urlOf(one)}  ${one.bytes} bytes  ${oneLine(one.reason)}`,
  );
  return [
    `Dead letters (alerts that could not be sent): ${letters.length}`,
    ...letters,
    `Quarantine (deliveries that could not be read): ${kept.length}`,
    ...kept,
  ].join('\n');
}

/** Shows one of them with its bytes. */
export async function show({ deadLetters, quarantine }: DeadLetterStore, id: string): Promise<string> {
  const { letter, number } = parse(id);
  if (letter === 'd') {
    const found = await deadLetters.get(number);
    if (!found) throw new UserError(`There is no ${id}. To list all, run: npm run deadletters -- list`);
    return [
      `${id}: ${found.kind === 'change' ? 'a sent message that could not be changed' : 'an alert that could not be sent'}`,
      `at       ${at(found.at)}`,
      `channel  ${found.channelId}`,
      `reason   ${oneLine(found.reason)}`,
      `transfer ${found.transfer === null ? 'no longer stored' : safe(JSON.stringify(found.transfer))}`,
      `message  ${found.payload === null ? 'never rendered, or part of a digest' : safe(found.payload)}`,
    ].join('\n');
  }
  const found = await quarantine.get(number);
  if (!found) throw new UserError(`There is no ${id}. To list all, run: npm run deadletters -- list`);
  return [
    `${id}: a delivery that could not be read`,
    `received ${at(found.receivedAt)}`,
    `url      ${urlOf(found)}`,
    `reason   ${oneLine(found.reason)}`,
    `body     ${found.body.length} bytes:`,
    safe(found.body),
  ].join('\n');
}

const counted = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
const namesOf = (some: readonly { id: string }[]) => some.map(({ id }) => id).join(', ');

/** Runs an action on each ID and returns their names. Does nothing if one is not an ID or does not exist. */
async function each(
  { deadLetters, quarantine }: DeadLetterStore,
  ids: string[],
  act: (id: Id) => Promise<boolean>,
): Promise<string> {
  const all = [...new Set(ids)].map((id) => ({ id, ...parse(id) }));
  const missing: typeof all = [];
  for (const one of all)
    if (!(await (one.letter === 'd' ? deadLetters : quarantine).get(one.number))) missing.push(one);
  if (missing.length > 0) {
    throw new UserError(`There is no ${namesOf(missing)}. To list all, run: npm run deadletters -- list`);
  }
  const done: typeof all = [];
  for (const one of all) if (await act(one)) done.push(one);
  const left = all.filter((one) => !done.includes(one));
  const did = `${namesOf(done)} ${done.length === 1 ? 'is' : 'are'}`;
  if (left.length > 0) {
    throw new UserError(
      `${done.length > 0 ? `${did} done. ` : ''}The transfer of ${namesOf(left)} is no longer stored, so it cannot be sent: discard it.`,
    );
  }
  return did;
}

/** Queues the given IDs, or `all`, to be tried again. */
export async function replay(store: DeadLetterStore, ids: string[]): Promise<string> {
  const now = systemClock.now();
  if (ids.join() !== 'all') {
    const { deadLetters, quarantine } = store;
    const again = await each(store, ids, ({ letter, number }) =>
      letter === 'd' ? deadLetters.replay(number, now) : quarantine.replay(number),
    );
    return `${again} queued again; a running bot retries within a minute.`;
  }
  let letters = 0;
  for (const { id } of await store.deadLetters.list(Number.MAX_SAFE_INTEGER))
    if (await store.deadLetters.replay(id, now)) letters++;
  const kept = await store.quarantine.replayAll();
  const found = `${counted(letters, 'dead letter', 'dead letters')} and ${counted(kept, 'delivery', 'deliveries')}`;
  return `Queued again: ${found}. A running bot retries within a minute.`;
}

/** Deletes the given IDs, or every unreadable delivery with `all`. */
export async function discard(store: DeadLetterStore, ids: string[]): Promise<string> {
  const { deadLetters, quarantine } = store;
  const now = systemClock.now();
  if (ids.join() === 'all') {
    const deleted = counted(await quarantine.discardAll(), 'delivery', 'deliveries');
    return `Deleted ${deleted}. A running bot notices within a minute.`;
  }
  if (ids[0] === 'channel') {
    const [, channel = '', ...more] = ids;
    if (!/^\d{1,20}$/.test(channel) || more.length > 0)
      throw new UserError('Specify one channel ID: npm run deadletters -- discard channel 123456789012345678');
    const deleted = counted(await deadLetters.discardAll(channel, now), 'dead letter', 'dead letters');
    return `Deleted ${deleted} of channel ${channel}.`;
  }
  const gone = await each(store, ids, ({ letter, number }) =>
    letter === 'd' ? deadLetters.discard(number, now) : quarantine.discard(number),
  );
  return `${gone} deleted.`;
}

interface Id {
  letter: string;
  number: number;
}

function parse(id: string): Id {
  const found = /^([dq])(\d{1,15})$/.exec(id);
  if (!found) throw new UserError(`"${oneLine(id)}" is not an ID. IDs look like d12 or q3.`);
  return { letter: found[1]!, number: Number(found[2]) };
}

/** Runs an action on the database at a URL, also while bots are running; rejects when the database cannot be used. */
export async function withDeadLetters<Result>(
  url: string,
  act: (store: DeadLetterStore) => Promise<Result>,
): Promise<Result> {
  await using stack = new AsyncDisposableStack();
  if (isPostgres(url)) {
    const { store } = stack.adopt(await postgres.openExisting(url), (it) => it.close());
    return await act(store);
  }
  return await onFile(databaseFile({ DATABASE_URL: url }), async (file) => {
    const { store } = stack.adopt(sqlite.openExisting(file), (it) => it.close());
    return act(store);
  });
}
