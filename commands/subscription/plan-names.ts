import type { AddressText } from '../../src/domain/address.ts';
import { type Label, MAX_LABELS, nameKey } from '../../src/domain/guild.ts';
import type { ImportedSubscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { boldName, notNamed } from '../shared/naming.ts';
import type { ContextWith } from '../shared/services.ts';

/** What a file calls each address, and in which line first. */
export type FileNames = Map<AddressText, { name: string; line: number }>;

/** Adds the name of an address. It has one name in a server, so it must have the same in every line. */
export function addName(names: FileNames, address: AddressText, name: string, line: number, t: Translate): void {
  const known = names.get(address);
  if (known && known.name !== name) {
    throw new UserError(t('subscription.import.otherName', { line: known.line, name: boldName(known.name) }));
  }
  if (!known) names.set(address, { name, line });
}

/** Takes back changes that remove a name which another line gives: an empty cell does not. */
export function keepNames(plan: { changed: ImportedSubscription[]; unchanged: number }, names: FileNames): void {
  for (const row of plan.changed) if (row.change.label === null && names.has(row.address)) delete row.change.label;
  const changed = plan.changed.filter(({ change }) => Object.keys(change).length > 0);
  plan.unchanged += plan.changed.length - changed.length;
  plan.changed = changed;
}

/** Adds a fault for each name that two addresses would have, and for too many names. */
export function checkNames(
  plan: { changed: readonly ImportedSubscription[]; errors: { line: number; text: string }[] },
  names: FileNames,
  labels: readonly Label[],
  context: ContextWith<'settings'>,
): void {
  const gone = new Set(plan.changed.flatMap(({ address, change }) => (change.label === null ? [address] : [])));
  const stay = labels.filter(({ address }) => !gone.has(address) && !names.has(address));
  const owners = new Map(stay.map(({ address, name }) => [nameKey(name), address]));
  for (const [address, { name, line }] of names) {
    const owner = owners.get(nameKey(name));
    if (owner !== undefined) {
      const refusal = { status: 'label-taken' as const, name, address: owner };
      plan.errors.push({ line, text: notNamed(refusal, context).message });
    }
    owners.set(nameKey(name), address);
  }
  const { message } = notNamed({ status: 'labels-full' }, context);
  if (stay.length + names.size > MAX_LABELS) plan.errors.push({ line: 1, text: message });
}
