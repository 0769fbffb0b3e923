import type { Command } from '../src/discord/command.ts';
import { define } from './parts/define.ts';
import { note } from './parts/reply.ts';

/** The commands in the order in which a newcomer needs them. */
const SECTIONS: { name: string; lines: string[] }[] = [
  {
    name: 'Watch addresses',
    lines: [
      '`/subscription add` – a wallet or token, and the channel to tell',
      '`/subscription list` – what is watched, and when something came last',
      '`/subscription edit` · `remove` – change or end one',
      '`/subscription pause` · `resume` · `mute` – quiet for a while',
      '`/subscription test` – post a sample alert',
    ],
  },
  {
    name: 'Look things up',
    lines: [
      '`/token` – name, supply and more of a token',
      '`/provider search` – RPC, oracles, wallets and other providers',
      '`/provider categories` – what kinds there are',
    ],
  },
  {
    name: 'Notification service',
    lines: [
      '`/webhook list` – the project’s webhooks, and which point here',
      '`/webhook remove` – take addresses out of a webhook',
    ],
  },
  {
    name: 'This server',
    lines: [
      '`/setup server` – alert channel, manager role, time zone, language',
      '`/setup check` – tests everything and says how to fix it',
      '`/status` – last event, what waits, what stopped',
    ],
  },
];

/** What the bot can do. */
export const help = {
  data: define('help', 'What this bot can do'),
  access: 'all',
  execute: async () =>
    note(
      'info',
      'Ledgerbell tells your channels about transfers',
      [
        'When coins, tokens or NFTs move at an address that you watch, one line appears in the channel you chose.',
        '-# Changing things needs Manage Server, or the manager role that an admin chose with `/setup server`.',
      ],
      { fields: SECTIONS.map(({ name, lines }) => ({ name, value: lines.join('\n') })) },
    ),
} satisfies Command;
