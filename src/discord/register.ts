import {
  type APIApplicationCommand,
  ApplicationIntegrationType,
  DiscordAPIError,
  InteractionContextType,
  type REST,
  Routes,
} from 'discord.js';
import { localize } from '../languages/definitions.ts';
import type { Command, MessageCommand } from './command.ts';

/**
 * Registers the commands for every guild in one request, unless Discord already has exactly these. Throws when Discord
 * refuses them.
 */
export async function registerCommands(
  rest: REST,
  applicationId: string,
  commands: readonly Pick<Command | MessageCommand, 'data'>[],
  onRegistered: (registered: readonly APIApplicationCommand[]) => void = () => {},
): Promise<'unchanged' | 'registered'> {
  const wanted = commands.map(({ data }) => localize(data.toJSON()));
  const route = Routes.applicationCommands(applicationId);
  const query = new URLSearchParams({ with_localizations: 'true' });
  const current = await rest.get(route, { query }).catch(() => null);
  if (Array.isArray(current) && fingerprint(current) === fingerprint(wanted)) {
    onRegistered(current as APIApplicationCommand[]);
    return 'unchanged';
  }
  const registered = await rest.put(route, { body: wanted }).catch((error: unknown) => {
    // An app that people cannot install for themselves may have such commands refused.
    if (!(error instanceof DiscordAPIError) || error.status !== 400) throw error;
    return rest.put(route, { body: wanted.map(onlyInGuilds) });
  });
  if (Array.isArray(registered)) onRegistered(registered as APIApplicationCommand[]);
  return 'registered';
}

const onlyInGuilds = <Definition extends object>(definition: Definition): Definition => ({
  ...definition,
  contexts: [InteractionContextType.Guild],
  integration_types: [ApplicationIntegrationType.GuildInstall],
});

/** The fields of a definition that are compared; Discord adds IDs, versions and its own defaults. */
const COMPARED = [
  'type',
  'name',
  'name_localizations',
  'description',
  'description_localizations',
  'default_member_permissions',
  'contexts',
  'integration_types',
  'nsfw',
  'options',
  'required',
  'choices',
  'value',
  'channel_types',
  'min_value',
  'max_value',
  'min_length',
  'max_length',
  'autocomplete',
];

/** Equal for definitions that mean the same. */
function fingerprint(definitions: readonly object[]): string {
  const texts = definitions.map((definition) => JSON.stringify(comparable({ type: 1, ...definition })));
  return texts.sort().join('\n');
}

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    // Options and choices are in the author's order; plain lists (channel types, contexts) are sets.
    return value.some((entry) => typeof entry === 'object') ? value.map(comparable) : value.toSorted();
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  return COMPARED.flatMap((key) => {
    const field = key.endsWith('_localizations') ? sorted(fields[key]) : comparable(fields[key]);
    // Discord returns an empty description for commands of a message's menu.
    const empty = field === undefined || field === null || field === false || field === '' || isEmptyList(field);
    return empty ? [] : [[key, field]];
  });
}

const isEmptyList = (field: unknown): boolean => Array.isArray(field) && field.length === 0;

function sorted(localizations: unknown): unknown {
  return Object.entries(localizations ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
