import { readDatabaseFile } from './config.ts';
import { OPERATOR_SCOPE } from './domain/scope.ts';
import { toolWords, UserError } from './errors.ts';
import { openBeside } from './store/sqlite/database.ts';
import { deadLetters } from './store/sqlite/deadletters.ts';
import { quarantineTable } from './store/sqlite/quarantine.ts';

/**
 * `npm run deadletters -- list | show <id> | replay <id…|all> | discard <id…|channel id|all>`: what could not be told
 * (d…) and what could not be understood (q…), also while the bot runs.
 */

const USAGE = `Usage:
  npm run deadletters -- list                   list alerts that could not be sent (d1, d2, …) and deliveries that could not be read (q1, q2, …)
  npm run deadletters -- show <id>              show one of them, with its bytes
  npm run deadletters -- replay <id> …          retry these; a running bot does it within a minute
  npm run deadletters -- replay all             retry all of them
  npm run deadletters -- discard <id> …         delete these permanently
  npm run deadletters -- discard channel <id>   delete every alert that could not be sent in a channel
  npm run deadletters -- discard all            delete every delivery that could not be read (q1, q2, …)`;

type Tables = { deadLetters: ReturnType<typeof deadLetters>; quarantine: ReturnType<typeof quarantineTable> };

/** Text that a terminal shows as it is: control characters, direction marks and broken UTF-8 become escapes. */
function safe(bytes: Uint8Array | string): string {
  const text = typeof bytes === 'string' ? bytes : decode(Buffer.from(bytes));
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\n' : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** UTF-8 as text; of what is no UTF-8, each byte that is not plain ASCII as `\xNN`. */
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

/** Whose receiver URL a delivery came to. */
function urlOf({ scope, guildId }: { scope: number; guildId: string | null }): string {
  if (guildId !== null) return `server ${guildId}`;
  return scope === OPERATOR_SCOPE ? 'operator' : `removed project ${scope}`;
}

function list({ deadLetters, quarantine }: Tables): string {
  const letters = deadLetters.list(Number.MAX_SAFE_INTEGER).map(({ id, at: time, channelId, reason, isChange }) => {
    const what = isChange ? 'change of a sent message: ' : '';
    return `d${id}  ${at(time)}  channel ${channelId}  ${what}${oneLine(reason)}`;
  });
  const kept = quarantine
    .list()
    .map((one) => `q${one.id}  ${at(one.receivedAt)}  ${urlOf(one)}  ${one.bytes} bytes  ${oneLine(one.reason)}`);
  return [
    `Dead letters (alerts that could not be sent): ${letters.length}`,
    ...letters,
    `Quarantine (deliveries that could not be read): ${kept.length}`,
    ...kept,
  ].join('\n');
}

function show({ deadLetters, quarantine }: Tables, id: string): string {
  const { letter, number } = parse(id);
  if (letter === 'd') {
    const found = deadLetters.get(number);
    if (!found) throw new UserError(`There is no ${id}. To list all, run: npm run deadletters -- list`);
    return [
      `${id}: ${found.isChange ? 'a sent message that could not be changed' : 'an alert that could not be sent'}`,
      `at       ${at(found.at)}`,
      `channel  ${found.channelId}`,
      `reason   ${oneLine(found.reason)}`,
      `transfer ${safe(found.transfer ?? 'no longer stored')}`,
      `message  ${found.payload === '' ? 'never rendered, or part of a digest' : safe(found.payload)}`,
    ].join('\n');
  }
  const found = quarantine.get(number);
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

const namesOf = (some: readonly { id: string }[]) => some.map(({ id }) => id).join(', ');

/** Does `run` to each of these and gives their names. If one of them is no id, or is not there, nothing is done to any. */
function each({ deadLetters, quarantine }: Tables, ids: string[], run: (id: Id) => boolean): string {
  const all = [...new Set(ids)].map((id) => ({ id, ...parse(id) }));
  const missing = all.filter(({ letter, number }) => !(letter === 'd' ? deadLetters.get : quarantine.get)(number));
  if (missing.length > 0) {
    throw new UserError(`There is no ${namesOf(missing)}. To list all, run: npm run deadletters -- list`);
  }
  const done = all.filter(run);
  const left = all.filter((one) => !done.includes(one));
  const did = `${namesOf(done)} ${done.length === 1 ? 'is' : 'are'}`;
  if (left.length > 0) {
    throw new UserError(
      `${done.length > 0 ? `${did} done. ` : ''}The transfer of ${namesOf(left)} is no longer stored, so it cannot be sent: discard it.`,
    );
  }
  return did;
}

function replay(tables: Tables, ids: string[]): string {
  const now = Date.now();
  if (ids.join() !== 'all') {
    const { deadLetters, quarantine } = tables;
    const again = each(tables, ids, ({ letter, number }) =>
      letter === 'd' ? deadLetters.replay(number, now) : quarantine.replay(number),
    );
    return `${again} queued again; a running bot retries within a minute.`;
  }
  const dead = tables.deadLetters.list(Number.MAX_SAFE_INTEGER);
  const letters = dead.filter(({ id }) => tables.deadLetters.replay(id, now));
  const kept = tables.quarantine.replayAll();
  return `${letters.length} dead letters and ${kept} deliveries are queued again; a running bot retries them within a minute.`;
}

function discard(tables: Tables, ids: string[]): string {
  const { deadLetters, quarantine } = tables;
  const now = Date.now();
  if (ids.join() === 'all') {
    return `${quarantine.discardAll()} deliveries were deleted; a running bot notices within a minute.`;
  }
  if (ids[0] === 'channel') {
    const [, channel = '', ...more] = ids;
    if (!/^\d{1,20}$/.test(channel) || more.length > 0) throw new UserError(USAGE);
    return `${deadLetters.discardAll(channel, now)} dead letters of channel ${channel} were deleted.`;
  }
  const gone = each(tables, ids, ({ letter, number }) =>
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
  if (!found) throw new UserError(`"${oneLine(id)}" is not an ID. IDs look like d12 or q3.\n${USAGE}`);
  return { letter: found[1]!, number: Number(found[2]) };
}

function answer(tables: Tables, [command, ...ids]: string[]): string {
  const [id] = ids;
  if (command === 'list' && !id) return list(tables);
  if (command === 'show' && id && ids.length === 1) return show(tables, id);
  if (command === 'replay' && id) return replay(tables, ids);
  if (command === 'discard' && id) return discard(tables, ids);
  throw new UserError(USAGE);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`.
  if (error.code !== 'EPIPE') throw error;
});
let file = '';
try {
  file = readDatabaseFile(process.env);
  const db = openBeside(file);
  try {
    const said = answer({ deadLetters: deadLetters(db), quarantine: quarantineTable(db) }, process.argv.slice(2));
    process.stdout.write(`${said}\n`);
  } finally {
    db.close();
  }
} catch (error) {
  process.stderr.write(`${toolWords(error as Error, file)}\n`);
  process.exitCode = 1;
}
