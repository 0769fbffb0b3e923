import { Events, ApplicationCommandOptionType as Type } from 'discord.js';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { subscribe } from '../../sandbox/start.ts';
import { logIn, standIn } from '../discord-stand-in/bot.ts';

const [treasury, payroll, grants, bell] = [1, 2, 3, 4].map((n) => `0x${String(n).repeat(40)}` as const);
const chain = {
  wallets: { Treasury: treasury, Payroll: payroll, Grants: grants },
  tokens: { bell: { address: bell } },
} as unknown as Parameters<typeof subscribe>[1];

it('repeats a first subscription that the bot missed, and fails when the bot never responds', async () => {
  const clock = createManualClock(Date.now());
  const discord = await standIn({ clock, limits: 'none' });
  const client = await logIn(discord);
  const text = (name: string) => ({ type: Type.String, name, description: 'x' }) as const;
  const options = [
    ...['address', 'label', 'kind', 'direction'].map(text),
    { ...text('mention'), type: Type.Role } as const,
  ];
  const add = { type: Type.Subcommand, name: 'add', description: 'x', options } as const;
  await client.application.commands.set([{ name: 'subscription', description: 'x', options: [add] }]);
  const typed: (string | null)[] = [];
  let isSlow = (count: number): boolean => count === 1;
  client.on(Events.InteractionCreate, (interaction) => {
    if (!interaction.isChatInputCommand()) return;
    typed.push(interaction.options.getString('address'));
    if (isSlow(typed.length)) clock.advance(3_000);
    else void interaction.reply('Done.');
  });
  await subscribe(discord, chain);
  expect(typed).toEqual([treasury, treasury, payroll, bell, treasury, grants]);
  isSlow = () => true;
  await expect(subscribe(discord, chain)).rejects.toThrow('The bot does not respond to /subscription add.');
});
