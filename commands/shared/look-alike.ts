import { differingDigits } from '../../src/discord/render/warnings.ts';
import { type AddressText, outerDigitsOf } from '../../src/domain/address.ts';
import { visibleTo } from './channels.ts';
import { titleName } from './names.ts';
import { addressInCode } from './reply.ts';
import type { Context } from './services.ts';

const MAX_WARNINGS = 3;

interface KnownAddress {
  address: AddressText;
  label: string | null;
}

type Alike = ReadonlyMap<AddressText, KnownAddress>;

/** The addresses that look like another one that this guild knows, or like one of `more`. */
export async function lookAlikes(
  addresses: readonly AddressText[],
  context: Context,
  more: readonly KnownAddress[] = [],
): Promise<Alike> {
  const [labels, watched] = await Promise.all([context.labels.list(context.guildId), visibleTo(context)]);
  const known: KnownAddress[] = [...labels.map(({ address, name }) => ({ address, label: name })), ...watched, ...more];
  const byEnds = Map.groupBy(known, ({ address }) => outerDigitsOf(address));
  return new Map(
    addresses.flatMap((address) => {
      const like = byEnds.get(outerDigitsOf(address))?.find((known) => known.address !== address);
      return like ? [[address, like] as const] : [];
    }),
  );
}

/** Warns of look-alikes: people may copy one from a wallet's history, and labeled addresses are trusted. */
export function lookAlikeLines(found: Alike, { t }: Context): string[] {
  return [...found].slice(0, MAX_WARNINGS).flatMap(([address, { address: like, label }]) => {
    const full = addressInCode(like);
    return [
      t('address.alike', { known: titleName(label, full) }),
      // No links: they must not invite a click.
      `-# ${addressInCode(address)}`,
      `-# ${full}`,
      `-# ${t('alert.lookAlikeDifference', differingDigits(address, like))}`,
    ];
  });
}
