import { ButtonStyle } from 'discord.js';
import type { Button, CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { checksumAddress } from '../../src/domain/address.ts';
import { inCode } from '../../src/domain/text.ts';
import { UserError } from '../../src/errors.ts';
import { fullAddress, note, press, row } from '../parts/reply.ts';
import { describe } from './filters.ts';
import { named } from './find.ts';

/** `/subscription remove`: asks first. */
export async function remove(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const found = await named(interaction, context);
  const { settings } = context;
  return note(
    'danger',
    `Remove ${inCode(found.label, `subscription ${found.id}`)}?`,
    [
      fullAddress(found.address, settings),
      `<#${found.channelId}> will no longer be told: ${describe(found, settings)}.`,
      '-# For a while only? Use `/subscription pause` or `/subscription mute`.',
    ],
    {
      components: [
        row(
          press('Remove', `subscription:drop:${found.id}`, ButtonStyle.Danger),
          press('Keep', `subscription:keep:${found.id}`),
        ),
      ],
    },
  );
}

/** `subscription:drop:<id>` */
export const dropButton: Button = {
  access: 'manage',
  answer: 'update',
  async press({ guildId, user }, [id], { store, settings, now }) {
    const found = await store.subscriptions.get(guildId, Number(id));
    if (!found || !(await store.subscriptions.remove(guildId, found.id))) {
      throw new UserError('This subscription is gone already. See what is left with `/subscription list`.');
    }
    const detail = { id: found.id, address: checksumAddress(found.address), channel: found.channelId };
    await store.servers.record({ guildId, userId: user.id, action: 'subscription.remove', detail, at: now() });
    return note('good', `🗑️ Removed ${inCode(found.label, `subscription ${found.id}`)}`, [
      fullAddress(found.address, settings),
      `<#${found.channelId}> is no longer told. The webhook’s own address list is not changed by this; that is ` +
        '`/webhook remove`.',
    ]);
  },
};

/** `subscription:keep:<id>` */
export const keepButton: Button = {
  access: 'manage',
  answer: 'update',
  press: async () => note('info', 'Kept', ['Nothing was changed.']),
};
