import { expect, it } from 'vitest';
import { createGuildChannels } from '../../commands/shared/guild-channels.ts';
import { type Asker, hiddenFrom } from '../../commands/shared/visibility.ts';
import { CHANNELS, createGuild, MODERATORS } from './guild.ts';

it('shows a person what their roles allow: no private thread except the one they use, and nothing unknown', async () => {
  const { guild, person } = createGuild();
  const { secret, privateThread, orphan, gone } = CHANNELS;
  const hidden = async (roles: string[], here: string | null = null) => {
    const asker: Asker = { guild, member: person(roles), memberPermissions: null, channelId: here };
    const context = { manages: false, guildChannels: createGuildChannels(() => 0) };
    return [...(await hiddenFrom(asker, Object.values(CHANNELS), context))].sort();
  };
  expect(await hidden([])).toEqual([secret, privateThread, orphan, gone]);
  expect(await hidden([], privateThread)).toEqual([secret, orphan, gone]);
  expect(await hidden([], gone)).toEqual([secret, privateThread, orphan]);
  expect(await hidden([MODERATORS])).toEqual([secret, orphan, gone]);
});
