import type { Command } from '../src/discord/command.ts';
import { drop, keep, list, listButton, offer, remove, set } from './label/book.ts';
import { define } from './shared/define.ts';
import type { ContextWith } from './shared/services.ts';

type Needs = ContextWith<
  'guildChannels' | 'subscriptions' | 'labels' | 'audit' | 'history' | 'settings' | 'now' | 'onRelabeled'
>;

/** The guild's address book: its own names for addresses, in alerts and replies. */
export const label = {
  data: define('label', 'Names for addresses, shown in this server’s alerts')
    .addSubcommand((command) =>
      command
        .setName('set')
        .setDescription('Name or rename an address')
        .addStringOption((option) =>
          option
            .setName('address')
            .setDescription('0x followed by 40 hexadecimal digits')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(300),
        )
        .addStringOption((option) =>
          option.setName('name').setDescription('The name to show in alerts').setRequired(true).setMaxLength(60),
        ),
    )
    .addSubcommand((command) =>
      command
        .setName('remove')
        .setDescription('Remove the name of an address')
        .addStringOption((option) =>
          option
            .setName('address')
            .setDescription('The address, or its name')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(300),
        ),
    )
    .addSubcommand((command) => command.setName('list').setDescription('List all names in this server')),
  access: 'manage',
  execute(interaction, context) {
    const name = interaction.options.getSubcommand();
    switch (name) {
      case 'set':
        return set(interaction, context);
      case 'remove':
        return remove(interaction, context);
      case 'list':
        return list(interaction.guildId, context, 0);
    }
    throw new Error(`no subcommand ${name}`);
  },
  autocomplete: offer,
  buttons: { list: listButton, drop, keep },
} satisfies Command<Needs>;
