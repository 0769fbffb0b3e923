import { type GuildBasedChannel, GuildMember, PermissionFlagsBits } from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import { quoted } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { withSuggestion } from '../shared/suggestions.ts';
import { TARGET_TYPES } from '../shared/target.ts';

/** Only this many rows with an unknown channel get a suggestion: a file may have thousands. */
const MAX_SUGGESTIONS = 10;

/** Reads the channel of a row: `<#id>`, an ID or a name; an empty text means the default channel. */
type ReadChannel = (text: string) => { channelId: string; picked: GuildBasedChannel | null };

/**
 * Creates the reader of a file's channels, which throws a {@link UserError}. Suggests no channel that is `hidden` from
 * the person.
 */
export function channelReader(
  interaction: CommandUse,
  hidden: ReadonlySet<string>,
  { server, t }: ContextWith,
): ReadChannel {
  const { guild, channelId: here } = interaction;
  const channels = guild?.channels.cache;
  let unknown = 0;
  return (text) => {
    const id = text === '' ? (server.defaultChannel ?? here) : /^(?:<#)?(\d{5,20})>?$/.exec(text)?.[1];
    if (id !== undefined) return { channelId: id, picked: channels?.get(id) ?? null };
    const name = text.replace(/^#/, '').toLowerCase();
    const [first, ...others] = (
      channels?.filter((one) => one.name.toLowerCase() === name && isTarget(one)) ?? []
    ).values();
    if (!first) {
      const known = ++unknown > MAX_SUGGESTIONS ? [] : visibleNames(interaction, hidden);
      const reason = withSuggestion(t('subscription.import.channel'), `#${name}`, known, t);
      throw new UserError(reason, { cause: text });
    }
    if (others.length > 0) throw new UserError(t('subscription.import.channels', { name: quoted(text) }));
    return { channelId: first.id, picked: first };
  };
}

const isTarget = ({ type }: GuildBasedChannel): boolean => (TARGET_TYPES as readonly number[]).includes(type);

/** The names of the channels for alerts that the person is known to see. */
function visibleNames({ guild, member }: CommandUse, hidden: ReadonlySet<string>): string[] {
  if (!guild || !(member instanceof GuildMember)) return [];
  const isSeen = (one: GuildBasedChannel) =>
    !hidden.has(one.id) && one.permissionsFor(member)?.has(PermissionFlagsBits.ViewChannel) === true;
  return [...guild.channels.cache.values()].filter((one) => isTarget(one) && isSeen(one)).map(({ name }) => `#${name}`);
}
