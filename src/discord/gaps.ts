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

/** The library throws where one of these is missing, and of channels it reads the objects only, not the ids. */
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
 * The library holds everything back until the last server was told of, which can take longer than the 3 s that Discord
 * waits for an answer.
 */
export function handleEarly(client: Client, interaction: RawInteraction): void {
  const { actions } = client as unknown as { actions: { InteractionCreate: { handle(data: object): void } } };
  actions.InteractionCreate.handle(interaction);
  // What is held back of it is of no kind that the library knows, so that it is handled once.
  interaction.type = 0;
}
