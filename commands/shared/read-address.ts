import type { AddressText } from '../../src/domain/address.ts';
import { parseAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { withInput } from './reply.ts';
import { suggestionError } from './suggestions.ts';

/** The address that a person typed; throws a {@link UserError}. */
export function readAddress(typed: string, t: Translate, parse = parseAddress): AddressText {
  const parsed = parse(typed);
  if (!parsed.ok) throw withInput(new UserError(t(`address.${parsed.fault}`)), typed, t);
  return parsed.address;
}

/** The address that a person typed, or the one of these with the typed name; throws a {@link UserError}. */
export function readAddressOrName(
  typed: string,
  named: readonly (readonly [address: AddressText, name: string])[],
  t: Translate,
): AddressText {
  const wanted = typed.trim().toLowerCase();
  const [called, ...others] = new Set(
    named.filter(([, name]) => name.toLowerCase() === wanted).map(([address]) => address),
  );
  if (others.length > 0) throw withInput(new UserError(t('label.several')), typed, t);
  if (called !== undefined) return called;
  const parsed = parseAddress(typed);
  const isName = !parsed.ok && parsed.fault === 'form' && !wanted.startsWith('0x');
  const names = named.map(([, name]) => name);
  if (isName) throw suggestionError(t('label.noName'), typed, names, t);
  return readAddress(typed, t);
}
