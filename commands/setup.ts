import type { Command } from '../src/discord/command.ts';
import { check } from './setup/check.ts';
import { forget, forgetButtons } from './setup/forget.ts';
import { panelButtons } from './setup/panel.ts';
import { projectForm, projectFormSubmit } from './setup/project.ts';
import { LANGUAGE_CHOICES, server, timezones, unsetButton } from './setup/server.ts';
import { define } from './shared/define.ts';
import { TARGET_TYPES } from './shared/target.ts';

/** How the bot behaves in this guild. */
export const setup = {
  data: define('setup', 'Set this server up, and check that everything works')
    .addSubcommand((command) =>
      command
        .setName('server')
        .setDescription('Alert channel, manager role, time zone and language; shows them without options')
        .addChannelOption((option) =>
          option
            .setName('channel')
            .setDescription('Where alerts of new subscriptions go when no channel is named')
            .addChannelTypes(...TARGET_TYPES),
        )
        .addRoleOption((option) =>
          option
            .setName('manager')
            .setDescription('Who may configure the bot besides Manage Server (@everyone: nobody)'),
        )
        .addStringOption((option) =>
          option.setName('timezone').setDescription('Like Europe/Lisbon').setAutocomplete(true).setMaxLength(50),
        )
        .addStringOption((option) =>
          option
            .setName('language')
            .setDescription('The language of this server')
            .addChoices(...LANGUAGE_CHOICES),
        ),
    )
    .addSubcommand((command) =>
      command.setName('project').setDescription('Use a notification project of your own: its id and keys, in a form'),
    )
    .addSubcommand((command) =>
      command.setName('check').setDescription('Test everything, with the fix for whatever is wrong'),
    )
    .addSubcommand((command) =>
      command.setName('forget').setDescription('Erase everything that is stored about this server; asks first'),
    ),
  access: 'manage',
  async execute(interaction, context) {
    switch (interaction.options.getSubcommand()) {
      case 'server':
        return server(interaction, context);
      case 'forget':
        return forget(interaction.guildId, context);
      default:
        return check(interaction, context);
    }
  },
  opens: { project: ({ guildId }, context) => projectForm(guildId, context) },
  autocomplete: async (interaction) => timezones(interaction.options.getFocused()),
  buttons: { ...panelButtons, ...forgetButtons, unset: unsetButton },
  forms: { project: projectFormSubmit },
} satisfies Command;
