import { DiscordAPIError, RESTJSONErrorCodes, Routes } from 'discord.js';
import type { CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { note } from '../parts/reply.ts';
import { named } from './find.ts';
import { stateOf } from './list.ts';

/** `/subscription test`: posts a line that is marked as a sample. */
export async function test(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const found = await named(interaction, context);
  try {
    await interaction.client.rest.post(Routes.channelMessages(found.channelId), { body: context.sample(found) });
  } catch (error) {
    throw error instanceof DiscordAPIError ? (refusal(error, found.channelId) ?? error) : error;
  }
  const state = stateOf(found, context.now());
  return note('good', `🧪 Sample sent for ${inCode(found.label, `subscription ${found.id}`)}`, [
    `Look in <#${found.channelId}>. Real alerts look the same, without “SAMPLE”.`,
    state ? `At the moment nothing real is told: ${state}.` : null,
  ]);
}

function refusal({ code }: DiscordAPIError, channelId: string): UserError | null {
  switch (code) {
    case RESTJSONErrorCodes.MissingAccess:
    case RESTJSONErrorCodes.MissingPermissions:
      return new UserError(
        `Discord does not let me post in <#${channelId}>. Open the channel’s settings → Permissions and allow me View ` +
          'Channel, Send Messages and Embed Links.',
      );
    case RESTJSONErrorCodes.UnknownChannel:
      return new UserError('The channel of this subscription is gone. Choose another with `/subscription edit`.');
    default:
      return null;
  }
}
