import {
  type Asset,
  type Choices,
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
} from '../../src/domain/subscription.ts';
import { halfWidth } from '../../src/domain/text.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { readName } from '../shared/naming.ts';
import { addressInCode, withInput } from '../shared/reply.ts';
import { writeAsset } from '../shared/tokens.ts';
import {
  type Field,
  list,
  nullable,
  oneOf,
  type Reading,
  readAmount,
  readCooldown,
  readCounterparty,
  readDigest,
  readMinimums,
  readQuiet,
  readRole,
  readStyle,
  readToken,
  withCause,
  writeMinimums,
  yesOrNo,
} from './field-values.ts';

/** Everything that people choose, in one flat object. */
type Flat = Omit<Choices, 'filters'> & Filters;

/** Every choice by its name in a subscription, in the order in which they are offered. */
export const FIELDS: { [Key in keyof Flat]: Field<Flat[Key]> } = {
  label: nullable('label', (text, { t }) => readName(text, t)),
  direction: oneOf('direction', ['any', 'incoming', 'outgoing']),
  kind: oneOf('kind', ['any', 'native', 'erc20', 'nft']),
  minimum: nullable('minimum', (text, reading) => readAmount('minimum', text, reading)),
  token: nullable('token', readToken, checksumAddress),
  mention: nullable('mention', readRole, (role) => `<@&${role}>`),
  minimums: { option: 'minimums', read: readMinimums, write: writeMinimums },
  tokens: list('tokens', (text, { tokens }) => tokens.find(text), writeAsset),
  deniedTokens: list('exclude-tokens', (text, { tokens }) => tokens.find(text), writeAsset),
  counterparties: list('counterparties', readCounterparty, checksumAddress),
  deniedCounterparties: list('exclude-counterparties', readCounterparty, checksumAddress),
  internal: yesOrNo('internal', DEFAULT_FILTERS.internal),
  cataloged: yesOrNo('cataloged', DEFAULT_FILTERS.cataloged),
  zero: yesOrNo('zero', DEFAULT_FILTERS.zero),
  self: yesOrNo('self', DEFAULT_FILTERS.self),
  digest: { option: 'digest', read: readDigest, write: (value) => value ?? 'off' },
  quiet: nullable('quiet', readQuiet),
  mentionMinimum: nullable('mention-minimum', (text, reading) => readAmount('mention-minimum', text, reading)),
  mentionCooldown: { option: 'mention-cooldown', read: readCooldown, write: String },
  watchSilence: yesOrNo('silence', DEFAULT_CHOICES.watchSilence),
  style: { option: 'style', read: readStyle, write: (value) => value ?? '' },
};

const KEYS = Object.keys(FIELDS) as (keyof Flat)[];

/**
 * Applies the chosen options to the previous choices; `input` returns the text of each option. Throws a {@link
 * UserError} for an invalid text.
 */
export function readChoices(input: (option: string) => string | undefined, before: Choices, reading: Reading): Choices {
  const chosen = flat(before);
  for (const key of KEYS) readField(key, input, chosen, reading);
  const after = unflat(chosen);
  checkTogether(after, reading);
  return after;
}

function readField<Key extends keyof Flat>(
  key: Key,
  input: (option: string) => string | undefined,
  chosen: Flat,
  reading: Reading,
): void {
  const text = input(FIELDS[key].option);
  if (text === undefined) return;
  try {
    chosen[key] = withCause(text, () => FIELDS[key].read(halfWidth(text.trim()), reading));
  } catch (error) {
    // For a file, each fault is shown once with its line numbers.
    throw error instanceof UserError && reading.language !== null ? withInput(error, text, reading.t) : error;
  }
}

/** Every choice of a subscription as text, in the order of {@link FIELDS}. */
export function writeChoices(choices: Choices): string[] {
  return KEYS.map((key) => writeField(key, flat(choices)));
}

/** An option's choice as text; empty: there is no such option. */
export function writeChoice(option: string, choices: Choices): string {
  const key = KEYS.find((one) => FIELDS[one].option === option);
  return key === undefined ? '' : writeField(key, flat(choices));
}

const writeField = <Key extends keyof Flat>(key: Key, choices: Flat): string => FIELDS[key].write(choices[key]);

const flat = (choices: Choices): Flat => ({ ...choices, ...choices.filters });

function unflat(choices: Flat): Choices {
  const part = <Whole extends object>(like: Whole) =>
    Object.fromEntries(Object.keys(like).map((key) => [key, choices[key as keyof Flat]]));
  const { filters: _, ...own } = DEFAULT_CHOICES;
  return { ...part(own), filters: part(DEFAULT_FILTERS) } as unknown as Choices;
}

/** Refuses contradictory choices, so that nobody waits for alerts that can never arrive. */
function checkTogether({ kind, token, minimum, filters }: Choices, { t, tokens, called }: Reading): void {
  const pair = (asset: Asset) => ({ kind: `${called('kind')}: ${kind}`, what: tokens.nameOf(asset) });
  const isNative = (asset: Asset) => asset === 'native';
  const never = kind === 'native' ? (asset: Asset) => !isNative(asset) : kind === 'any' ? () => false : isNative;
  const lost = token !== null && never(token) ? token : filters.tokens.every(never) ? filters.tokens[0] : undefined;
  if (lost !== undefined) throw new UserError(t('subscription.filter.nativeOnly', pair(lost)));
  if (kind === 'native' && filters.deniedTokens.includes('native')) {
    throw new UserError(t('subscription.filter.both', { what: tokens.nameOf('native') }));
  }
  if (kind === 'nft' && minimum !== null) {
    const option = `${called('minimum')}: ${minimum}`;
    throw new UserError(t('subscription.filter.nftMinimum', { kind: `${called('kind')}: ${kind}`, minimum: option }));
  }
  const both =
    filters.tokens.find((one) => filters.deniedTokens.includes(one)) ??
    (token !== null && filters.deniedTokens.includes(token) ? token : undefined);
  if (both) throw new UserError(t('subscription.filter.both', { what: tokens.nameOf(both) }));
  const other = filters.counterparties.find((one) => filters.deniedCounterparties.includes(one));
  if (other) throw new UserError(t('subscription.filter.both', { what: addressInCode(other) }));
  if (token !== null && filters.tokens.length > 0 && !filters.tokens.includes(token)) {
    const options = { token: called('token'), tokens: called('tokens') };
    throw new UserError(t('subscription.filter.tokenNotAmong', { ...options, what: tokens.nameOf(token) }));
  }
}
