import { databaseFile, isPostgres } from '../config.ts';
import { systemClock } from '../domain/clock.ts';
import { isOperatorScope } from '../domain/inbox.ts';
import { UserError } from '../errors.ts';
import * as postgres from '../store/postgres/open.ts';
import * as sqlite from '../store/sqlite/tools.ts';
import type { Store } from '../store/store.ts';
import { onFile } from './terminal.ts';

type DeadLetterStore = Pick<Store, 'deadLetters' | 'quarantine'>;

const ALL = Number.MAX_SAFE_INTEGER;

/** Escapes what a terminal would not show unchanged: control characters and direction marks. */
const safe = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\n' : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );

const at = (time: number) => new Date(time).toISOString();
const oneLine = (text: string) => safe(text).replaceAll('\n', ' ').slice(0, 200);
const counted = (n: number, singular: string, many: string) => `${n} ${n === 1 ? singular : many}`;
const missing = (ids: string) => new UserError(`There is no ${ids}. To list all, run: npm run deadletters -- list`);

function urlOf({ scope, guildId }: { scope: number; guildId: string | null }): string {
  if (guildId !== null) return `server ${guildId}`;
  return isOperatorScope(scope) ? 'operator' : `removed project ${scope}`;
}

async function list({ deadLetters, quarantine }: DeadLetterStore): Promise<string> {
  const letters = (await deadLetters.list(ALL)).map(({ id, kind, at: time, channelId, reason }) => {
    const what = kind === 'change' ? 'change of a sent message: ' : '';
    return `d${id}  ${at(time)}  channel ${channelId}  ${what}${oneLine(reason)}`;
  });
  const unreadable = (await quarantine.list()).map(
    (row) =>
      `q${row.id}  ${at(row.receivedAt)}  ${urlOf(row)}  ${row.bytes} bytes${row.hash === null ? '' : ' (deleted)'}  ${oneLine(row.reason)}`,
  );
  return [
    `Dead letters (alerts that could not be sent): ${letters.length}`,
    ...letters,
    `Quarantine (deliveries that could not be read): ${unreadable.length}`,
    ...unreadable,
  ].join('\n');
}

async function show({ deadLetters, quarantine }: DeadLetterStore, [id = '']: string[]): Promise<string> {
  const { isLetter, number } = parse(id);
  if (isLetter) {
    const letter = (await deadLetters.list(ALL)).find((deadLetter) => deadLetter.id === number);
    if (!letter) throw missing(id);
    return [
      `${id}: ${letter.kind === 'change' ? 'a sent message that could not be changed' : 'an alert that could not be sent'}`,
      `at       ${at(letter.at)}`,
      `channel  ${letter.channelId}`,
      `reason   ${oneLine(letter.reason)}`,
      `transfer ${safe(JSON.stringify(letter.transfer))}`,
      `message  ${letter.payload === null ? 'never rendered, or part of a digest' : safe(letter.payload)}`,
    ].join('\n');
  }
  const delivery = await quarantine.get(number);
  if (!delivery) throw missing(id);
  return [
    `${id}: a delivery that could not be read`,
    `received ${at(delivery.receivedAt)}`,
    `url      ${urlOf(delivery)}`,
    `reason   ${oneLine(delivery.reason)}`,
    ...(delivery.body
      ? [`body     ${delivery.bytes} bytes:`, safe(Buffer.from(delivery.body).toString())]
      : [`body     ${delivery.bytes} bytes, deleted because the quarantine was full; SHA-256 ${delivery.hash}`]),
  ].join('\n');
}

async function replay(store: DeadLetterStore, ids: string[]): Promise<string> {
  const { deadLetters, quarantine } = store;
  const now = systemClock.now();
  if (ids.join() !== 'all') {
    const queued = await each(ids, 'queued again', ({ isLetter, number }) =>
      isLetter ? deadLetters.replay(number, now) : quarantine.replay([number]).then((done) => done === 1),
    );
    return `${queued} A running bot retries within a minute.`;
  }
  let letters = 0;
  for (const { id } of await deadLetters.list(ALL)) if (await deadLetters.replay(id, now)) letters++;
  const unreadable = counted(await inSteps(await idsOf(quarantine), quarantine.replay), 'delivery', 'deliveries');
  const found = `${counted(letters, 'dead letter', 'dead letters')} and ${unreadable}`;
  return `Queued again: ${found}. A running bot retries within a minute.`;
}

async function discard(store: DeadLetterStore, ids: string[]): Promise<string> {
  const { deadLetters, quarantine } = store;
  const now = systemClock.now();
  if (ids.join() === 'all') {
    const deleted = counted(await inSteps(await idsOf(quarantine), quarantine.discard), 'delivery', 'deliveries');
    return `Deleted ${deleted}. A running bot notices within a minute.`;
  }
  return each(ids, 'deleted', ({ isLetter, number }) =>
    (isLetter ? deadLetters.discard([number], now) : quarantine.discard([number])).then((done) => done === 1),
  );
}

/** `done`: what `act` does to each of them. */
async function each(ids: string[], done: string, act: (id: Id) => Promise<boolean>): Promise<string> {
  const acted: string[] = [];
  const failed: string[] = [];
  for (const id of [...new Set(ids)].map(parse)) ((await act(id)) ? acted : failed).push(id.name);
  const report = acted.length === 0 ? '' : `${acted.join(', ')}: ${done}.`;
  if (failed.length === 0) return report;
  const names = failed.join(', ');
  throw new UserError(`${report} ${names}: not ${done}. It is not in the list, or its bytes were deleted.`.trim());
}

/** How many deliveries one step handles: a running bot writes between steps. */
const STEP = 200;

const idsOf = async ({ list }: Pick<Store['quarantine'], 'list'>): Promise<number[]> =>
  (await list()).map(({ id }) => id);

async function inSteps(ids: readonly number[], act: (some: readonly number[]) => Promise<number>): Promise<number> {
  let done = 0;
  for (let from = 0; from < ids.length; from += STEP) done += await act(ids.slice(from, from + STEP));
  return done;
}

interface Id {
  name: string;
  /** Of a dead letter; otherwise of a delivery in quarantine. */
  isLetter: boolean;
  number: number;
}

function parse(id: string): Id {
  const found = /^([dq])(\d{1,15})$/.exec(id);
  if (!found) throw new UserError(`"${oneLine(id)}" is not an ID. IDs look like d12 or q3.`);
  return { name: id, isLetter: found[1] === 'd', number: Number(found[2]) };
}

const COMMANDS = { list, show, replay, discard };
export type DeadLetterCommand = keyof typeof COMMANDS;

export async function runOn(url: string, command: DeadLetterCommand, ids: string[]): Promise<string> {
  const file = isPostgres(url) ? null : databaseFile({ DATABASE_URL: url });
  const work = async () => {
    await using stack = new AsyncDisposableStack();
    const opened = file === null ? await postgres.openExisting(url) : sqlite.openExisting(file);
    return await COMMANDS[command](stack.adopt(opened, (it) => it.close()).store, ids);
  };
  return file === null ? work() : onFile(file, work());
}
