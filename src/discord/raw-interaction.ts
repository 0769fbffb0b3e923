import { ApplicationCommandOptionType, type Client } from 'discord.js';

/** An interaction as the gateway sends it: the fields that the library always reads, but that proxies and stand-ins may omit. */
export interface RawInteraction {
  type: number;
  channel?: object | null;
  channel_id?: string;
  entitlements?: unknown[] | null;
  authorizing_integration_owners?: object | null;
  data?: { options?: RawOption[]; resolved?: { channels?: Record<string, object> } };
}

interface RawOption {
  type: number;
  value?: unknown;
  options?: RawOption[];
}

/** Adds the fields without which the library throws, and the channels of options, which it cannot resolve from an ID alone. */
export function addMissingFields(interaction: RawInteraction): void {
  if (!interaction.channel && interaction.channel_id) interaction.channel = { id: interaction.channel_id };
  interaction.entitlements ??= [];
  interaction.authorizing_integration_owners ??= {};
  const { data } = interaction;
  const [first] = data?.options ?? [];
  for (const { type, value } of first?.options ?? data?.options ?? []) {
    if (!data || type !== ApplicationCommandOptionType.Channel || typeof value !== 'string') continue;
    data.resolved = { ...data.resolved, channels: { [value]: { id: value }, ...data.resolved?.channels } };
  }
}

/**
 * Handles an interaction at once. The library delays all events until Discord has sent the last guild, which can take
 * longer than the 3 s within which an interaction needs a reply.
 */
export function handleEarly(client: Client, interaction: RawInteraction): void {
  const { actions } = client as unknown as { actions: { InteractionCreate: { handle(data: object): void } } };
  actions.InteractionCreate.handle(interaction);
  // The library still has the same packet queued. With an unknown type it will not handle it a second time.
  interaction.type = 0;
}
