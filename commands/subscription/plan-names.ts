import type { GuildBasedChannel } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import { MAX_LABELS, nameKey } from '../../src/domain/guild.ts';
import type { ImportedSubscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { TARGET_TYPES } from '../shared/channels.ts';
import { boldName, type Names, notNamed } from '../shared/names.ts';
import { quoted, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';

/** A fault of a file. Lines are counted from 1. */
export interface Fault {
  line: number;
  text: string;
}

export type FileNames = Map<AddressText, { name: string; line: number }>;

/** Adds the name of an address. It has one name in a server, so it must have the same in every line. */
export function addName(names: FileNames, address: AddressText, name: string, line: number, t: Translate): void {
  const known = names.get(address);
  if (known && known.name !== name) {
    throw new UserError(t('subscription.import.otherName', { line: known.line, name: boldName(known.name) }));
  }
  if (!known) names.set(address, { name, line });
}

/** The changes without removals of a name that another line gives: an empty cell removes no such name. */
export function keepNames(changed: readonly ImportedSubscription[], names: FileNames): ImportedSubscription[] {
  const kept = changed.map((row) => {
    const { label, ...change } = row.change;
    return label === null && names.has(row.address) ? { ...row, change } : row;
  });
  return kept.filter(({ change }) => Object.keys(change).length > 0);
}

export function findNameFaults(
  names: FileNames,
  changed: readonly ImportedSubscription[],
  known: Names,
  context: Context,
): Fault[] {
  const faults: Fault[] = [];
  const gone = new Set(changed.flatMap(({ address, change }) => (change.label === null ? [address] : [])));
  const stay = [...known].filter(([address]) => !gone.has(address) && !names.has(address));
  const owners = new Map(stay.map(([address, name]) => [nameKey(name), address]));
  for (const [address, { name, line }] of names) {
    const owner = owners.get(nameKey(name));
    if (owner !== undefined) {
      const refusal = { status: 'label-taken' as const, name, address: owner };
      faults.push({ line, text: notNamed(refusal, context).message });
    }
    owners.set(nameKey(name), address);
  }
  const { message } = notNamed({ status: 'labels-full' }, context);
  if (stay.length + names.size > MAX_LABELS) faults.push({ line: 1, text: message });
  return faults;
}

/** Reads the channel of a row: `<#id>`, an ID or a name; an empty text means the default channel. */
type ReadChannel = (text: string) => { channelId: string; picked: GuildBasedChannel | null };

export function channelReader({ interaction, server, t }: Context): ReadChannel {
  const { guild, channelId: here } = interaction;
  const channels = guild?.channels.cache;
  return (text) => {
    const id = text === '' ? (server.defaultChannel ?? here) : /^(?:<#)?(\d{5,20})>?$/.exec(text)?.[1];
    if (id !== undefined) return { channelId: id, picked: channels?.get(id) ?? null };
    const name = text.replace(/^#/, '').toLowerCase();
    const [first, ...others] = (
      channels?.filter((channel) => channel.name.toLowerCase() === name && isTarget(channel)) ?? []
    ).values();
    if (!first) throw withInput(new UserError(t('subscription.import.channel')), text, t);
    if (others.length > 0) throw new UserError(t('subscription.import.channels', { name: quoted(text) }));
    return { channelId: first.id, picked: first };
  };
}

const isTarget = ({ type }: GuildBasedChannel): boolean => (TARGET_TYPES as readonly number[]).includes(type);
