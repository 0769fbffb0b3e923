import { ApplicationCommandOptionType, type Client } from 'discord.js';

/** An interaction as the gateway sends it: what the library reads of it unasked, and relays and stand-ins may leave out. */
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

/** Adds what the library throws without, and the channel of an option: for a mere id the library gives none. */
export function fillGaps(interaction: RawInteraction): void {
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
 * Handles an interaction at once. The library holds everything back until Discord has told of the last guild, which
 * can take longer than the 3 s in which an interaction must be answered.
 */
export function handleEarly(client: Client, interaction: RawInteraction): void {
  const { actions } = client as unknown as { actions: { InteractionCreate: { handle(data: object): void } } };
  actions.InteractionCreate.handle(interaction);
  // The library still holds the same packet back; with a type that it does not know it will not handle it again.
  interaction.type = 0;
}
