import type { ExplorerRoot } from '../../src/discord/render/wording.ts';
import {
  type AddressFault,
  type AddressText,
  addressesIn,
  bareDigits,
  brokenIn,
  parseAddress,
  shortAddress,
} from '../../src/domain/address.ts';
import { type LabelRefusal, MAX_LABELS } from '../../src/domain/guild.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { asLabel, cutTo, looksLikeLink, plainText } from '../../src/domain/text.ts';
import { ifRefused, UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { fullAddress, withInput } from './reply.ts';
import type { CommandServices, Context } from './services.ts';
import { suggestionError } from './suggestions.ts';

export const MAX_NAME = 60;

export async function namesByAddress(guildId: string, { labels }: Pick<CommandServices, 'labels'>): Promise<Names> {
  return new Map((await labels.list(guildId)).map(({ address, name }) => [address, name]));
}

export const titleName = (name: string | null | undefined, fallback = ''): string => asLabel(name, fallback, MAX_NAME);

export function boldName(name: string | null | undefined, fallback = ''): string {
  const shown = titleName(name);
  return shown === '' ? fallback : `**${shown}**`;
}

export const namedAddress = (name: string | null | undefined, address: AddressText, settings: ExplorerRoot): string =>
  [boldName(name), fullAddress(address, settings)].filter(Boolean).join(' ');

export const nameOf = ({ label, address }: Pick<Subscription, 'label' | 'address'>): string =>
  titleName(label, `\`${shortAddress(address)}\``);

export function readName(text: string, t: Translate): string {
  if (looksLikeLink(text, true)) throw new UserError(t('label.link'));
  const name = plainText(text, MAX_NAME);
  if (name === null) throw new UserError(t('label.empty'));
  if (name.endsWith('…') && !text.trimEnd().endsWith('…')) {
    throw new UserError(t('label.long', { max: MAX_NAME }));
  }
  return name;
}

export const nameOrNull = (label: string, t: Translate): string | null =>
  ifRefused<string | null>(
    () => readName(label, t),
    () => null,
  );

export function notNamed(refusal: LabelRefusal, { settings, t }: Context): UserError {
  if (refusal.status === 'labels-full') return new UserError(t('label.full', { count: MAX_LABELS }));
  const { name, address } = refusal;
  const shown = { name: boldName(name), address: fullAddress(address, settings) };
  return new UserError(t('label.taken', shown));
}

export type Names = ReadonlyMap<AddressText, string>;

interface Rules {
  parse?: typeof parseAddress;
  names?: Names;
  noName?: string;
}

/** An address is never taken for a name, which somebody could have chosen to look like it. */
export function readAddress(typed: string, t: Translate, rules: Rules = {}): AddressText {
  const { parse = parseAddress, names = new Map(), noName = t('address.form') } = rules;
  const parsed = parse(typed);
  if (parsed.ok) return parsed.address;
  const [called, ...others] = addressesNamed(typed, names);
  if (others.length > 0) throw withInput(new UserError(t('label.several')), typed, t);
  if (called !== undefined) return readAddress(called, t, { parse });
  if (parsed.fault !== 'form' || /^0x/i.test(typed.trim())) {
    throw withInput(new UserError(faultText(parsed.fault, typed, t)), typed, t);
  }
  throw suggestionError(noName, typed, names.values(), t);
}

export const addressesNamed = (typed: string, names: Names): AddressText[] => {
  const wanted = plainText(typed, Infinity)?.toLowerCase();
  return [...names].flatMap(([address, name]) => (name.toLowerCase() === wanted ? address : []));
};

export function faultText(fault: AddressFault, typed: string, t: Translate): string {
  const reason = t(`address.${fault}`, { part: `\`${cutTo(brokenIn(typed) ?? '', MAX_NAME)}\`` });
  const digits = fault === 'bare' ? bareDigits(typed) : null;
  return digits === null ? reason : `${reason} ${t('reply.suggestion', { text: `\`0x${digits}\`` })}`;
}

/** Names stay whole, although they may contain blanks. */
export function entriesOf(text: string, names: Names): string[] {
  const parts = text.split(/[,;，；、|\r\n]+/u).map((part) => part.trim());
  const isName = (part: string) => addressesIn(part).length === 0 && addressesNamed(part, names).length > 0;
  return parts.flatMap((part) => (isName(part) ? [part] : part.split(/\s+/u))).filter(Boolean);
}

export interface Pasted {
  addresses: AddressText[];
  wrong: { text: string; fault: AddressFault }[];
}

/** Words beside an address, such as what it is called, are ignored. */
export function readAddresses(text: string, names: Names = new Map()): Pasted {
  const addresses = new Set<AddressText>();
  const wrong = new Map<string, AddressFault>();
  for (const part of text.split(/[,;，；、|\r\n]+/u)) {
    const isNamed = addressesIn(part).length > 0;
    for (const entry of entriesOf(part, names)) {
      const parsed = parseAddress(entry);
      const [called, ...others] = parsed.ok ? [parsed.address] : addressesNamed(entry, names);
      if (called !== undefined && others.length === 0) addresses.add(called);
      else if (!parsed.ok && !(isNamed && parsed.fault === 'form' && !/^0x/i.test(entry))) {
        wrong.set(entry.replace(/^["'`<([{]+|["'`>)\]}]+$/g, ''), parsed.fault);
      }
    }
  }
  return { addresses: [...addresses], wrong: [...wrong].map(([word, fault]) => ({ text: word, fault })) };
}
