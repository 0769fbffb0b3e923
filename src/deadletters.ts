import { readDatabaseFile } from './config.ts';
import { OPERATOR_SCOPE } from './domain/scope.ts';
import { UserError } from './errors.ts';
import { openBeside } from './store/database.ts';
import { outboxTable } from './store/outbox.ts';
import { quarantineTable } from './store/quarantine.ts';

/**
 * `npm run deadletters -- list | show <id> | replay <id|all> | discard <q…|all>`: what could not be told (d…) and what
 * could not be understood (q…), also while the bot runs.
 */

const USAGE = `Usage:
  npm run deadletters -- list            what could not be told (d1, d2, …) or understood (q1, q2, …)
  npm run deadletters -- show <id>       one of them, with its bytes
  npm run deadletters -- replay <id>     puts it back to be told or read anew; the bot takes it up within a minute
  npm run deadletters -- replay all      the same for every one of them
  npm run deadletters -- discard <id>    forgets a delivery that could not be understood (q1, q2, …) for good
  npm run deadletters -- discard all     the same for every such delivery; dead letters stay`;

type Tables = { outbox: ReturnType<typeof outboxTable>; quarantine: ReturnType<typeof quarantineTable> };

/** Text that a terminal shows as it is: control characters, direction marks and broken UTF-8 become escapes. */
function safe(bytes: Uint8Array | string): string {
  const text = typeof bytes === 'string' ? bytes : decode(Buffer.from(bytes));
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    character === '\n' ? '\n' : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}

/** UTF-8 as text; each byte that is none as `\xNN`. */
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

function list({ outbox, quarantine }: Tables): string {
  const letters = outbox.deadLetters(Number.MAX_SAFE_INTEGER).map(({ id, at: time, channelId, reason, isChange }) => {
    const what = isChange ? 'change of a sent message: ' : '';
    return `d${id}  ${at(time)}  channel ${channelId}  ${what}${oneLine(reason)}`;
  });
  const kept = quarantine
    .list()
    .map((one) => `q${one.id}  ${at(one.receivedAt)}  ${urlOf(one)}  ${one.bytes} bytes  ${oneLine(one.reason)}`);
  return [
    `Dead letters (lines that could not be told): ${letters.length}`,
    ...letters,
    `Quarantine (deliveries that could not be understood): ${kept.length}`,
    ...kept,
  ].join('\n');
}

function show({ outbox, quarantine }: Tables, id: string): string {
  const { letter, number } = parse(id);
  if (letter === 'd') {
    const found = outbox.deadLetter(number);
    if (!found) throw new UserError(`There is no ${id}. See: npm run deadletters -- list`);
    return [
      `${id}: a ${found.isChange ? 'sent message that could not be changed' : 'line that could not be told'}`,
      `at       ${at(found.at)}`,
      `channel  ${found.channelId}`,
      `reason   ${oneLine(found.reason)}`,
      `transfer ${safe(found.transfer ?? 'forgotten')}`,
      `message  ${found.payload === '' ? 'was never made' : safe(found.payload)}`,
    ].join('\n');
  }
  const found = quarantine.get(number);
  if (!found) throw new UserError(`There is no ${id}. See: npm run deadletters -- list`);
  return [
    `${id}: a delivery that could not be understood`,
    `received ${at(found.receivedAt)}`,
    `url      ${urlOf(found)}`,
    `reason   ${oneLine(found.reason)}`,
    `body     ${found.body.length} bytes:`,
    safe(found.body),
  ].join('\n');
}

function replay(tables: Tables, which: string): string {
  if (which !== 'all') {
    const { letter, number } = parse(which);
    const done = letter === 'd' ? tables.outbox.replay(number, Date.now()) : tables.quarantine.replay(number);
    if (!done) throw new UserError(`There is no ${which}. See: npm run deadletters -- list`);
    return `${which} waits again; a running bot takes it up within a minute.`;
  }
  const now = Date.now();
  const dead = tables.outbox.deadLetters(Number.MAX_SAFE_INTEGER);
  const letters = dead.filter(({ id }) => tables.outbox.replay(id, now));
  const kept = tables.quarantine.replayAll();
  return `${letters.length} dead letters and ${kept} deliveries wait again; a running bot takes them up within a minute.`;
}

function discard({ quarantine }: Tables, which: string): string {
  if (which === 'all') {
    return `${quarantine.discardAll()} deliveries are gone for good; a running bot notices within a minute.`;
  }
  const { letter, number } = parse(which);
  if (letter === 'd') throw new UserError(`${which} is a line that somebody waits for: replay it, or leave it.`);
  if (!quarantine.discard(number)) throw new UserError(`There is no ${which}. See: npm run deadletters -- list`);
  return `${which} is gone for good.`;
}

function parse(id: string): { letter: string; number: number } {
  const found = /^([dq])(\d{1,15})$/.exec(id);
  if (!found) throw new UserError(`"${oneLine(id)}" is no id; one looks like d12 or q3.\n${USAGE}`);
  return { letter: found[1]!, number: Number(found[2]) };
}

function answer(tables: Tables, [command, id]: string[]): string {
  if (command === 'list') return list(tables);
  if (command === 'show' && id) return show(tables, id);
  if (command === 'replay' && id) return replay(tables, id);
  if (command === 'discard' && id) return discard(tables, id);
  throw new UserError(USAGE);
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`.
  if (error.code !== 'EPIPE') throw error;
});
try {
  const db = openBeside(readDatabaseFile(process.env));
  try {
    const said = answer({ outbox: outboxTable(db), quarantine: quarantineTable(db) }, process.argv.slice(2));
    process.stdout.write(`${said}\n`);
  } finally {
    db.close();
  }
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
