import type { Command } from '../src/discord/command.ts';
import { audit, auditButton } from './setup/audit.ts';
import { check } from './setup/check.ts';
import { askToErase, eraseButtons } from './setup/forget.ts';
import { panelButtons } from './setup/panel.ts';
import { projectForm, projectFormSubmit } from './setup/project.ts';
import { LANGUAGE_CHOICES, server, timezones, unsetButton } from './setup/server.ts';
import { bySubcommand, define } from './shared/define.ts';
import type { CommandContext } from './shared/services.ts';
import { TARGET_TYPES } from './shared/target.ts';

/** `/setup`: a guild's settings, its own project, the check of everything, and the erasure of its data. */
export const setup = {
  data: define('setup', 'Set up this server and check that everything works')
    .addSubcommand((command) =>
      command
        .setName('server')
        .setDescription('Set alert channel, manager role, time zone, language and style, or show them')
        .addChannelOption((option) =>
          option
            .setName('channel')
            .setDescription('Default channel for new subscriptions')
            .addChannelTypes(...TARGET_TYPES),
        )
        .addRoleOption((option) =>
          option.setName('manager').setDescription('Role that may also configure the bot (@everyone removes it)'),
        )
        .addStringOption((option) =>
          option
            .setName('timezone')
            .setDescription('Time zone, like Europe/Lisbon')
            .setAutocomplete(true)
            .setMaxLength(50),
        )
        .addStringOption((option) =>
          option
            .setName('language')
            .setDescription('The language of this server')
            .addChoices(...LANGUAGE_CHOICES),
        )
        .addStringOption((option) =>
          option
            .setName('style')
            .setDescription('How alerts look: two lines each, or tall cards with every detail')
            .addChoices({ name: 'compact', value: 'compact' }, { name: 'full', value: 'full' }),
        ),
    )
    .addSubcommand((command) =>
      command
        .setName('project')
        .setDescription('Connect your own notification project (opens a form for its ID and keys)'),
    )
    .addSubcommand((command) =>
      command.setName('check').setDescription('Test everything and show how to fix what is wrong'),
    )
    .addSubcommand((command) => command.setName('audit').setDescription('Show who changed what in the last year'))
    .addSubcommand((command) =>
      command.setName('forget').setDescription('Erase everything stored about this server (asks first)'),
    ),
  access: 'manage',
  execute: bySubcommand<CommandContext>({ server, check, audit, forget: askToErase }),
  opens: { project: ({ guildId }, context) => projectForm(guildId, context) },
  autocomplete: async (interaction) => timezones(interaction.options.getFocused()),
  buttons: { ...panelButtons, ...eraseButtons, unset: unsetButton, audit: auditButton },
  forms: { project: projectFormSubmit },
} satisfies Command<CommandContext>;
