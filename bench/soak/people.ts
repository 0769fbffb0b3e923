import { type Discord, seed } from '../../sandbox/discord/index.ts';
import type { Watched } from '../../test/crash/watched.ts';

/** Commands per cycle. */
const PER_CYCLE = 18;

/** The results of typed commands; `unanswered`: no response within Discord's three seconds, or no bot was connected. */
export interface Asked {
  answered: number;
  unanswered: number;
}

/** People who occasionally use slash commands, in turn. */
export function startPeople(discord: Discord, watched: readonly Watched[], cycleMs: number) {
  const asked: Asked = { answered: 0, unanswered: 0 };
  let turn = 0;
  const ask = async () => {
    const { address } = watched[turn % watched.length]!;
    const commands = [
      { name: 'status' },
      { name: 'activity', options: { address, period: '24h' } },
      { name: 'subscription list' },
      { name: 'label set', options: { address, name: `Treasury ${turn}` } },
      { name: 'help' },
      { name: 'label remove', options: { address: watched[(turn - 2 + watched.length) % watched.length]!.address } },
    ];
    const command = commands[turn++ % commands.length]!;
    const where = { userId: seed.ada, channelId: seed.harbor.general };
    const interaction = discord.begin({ kind: 'command', ...where, unchecked: true, ...command });
    const { status } = await interaction.acknowledged();
    if (status === 'acknowledged') asked.answered++;
    else asked.unanswered++;
  };
  const timer = setInterval(() => void ask(), cycleMs / PER_CYCLE);
  return { asked, close: () => clearInterval(timer) };
}
