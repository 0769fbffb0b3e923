import type { SlashCommandSubcommandBuilder } from 'discord.js';
import type { Command } from '../src/discord/command.ts';
import { bySubcommand, define } from './shared/define.ts';
import type { CommandContext } from './shared/services.ts';
import { TARGET_TYPES } from './shared/target.ts';
import { add } from './subscription/add.ts';
import { edit, pause } from './subscription/change.ts';
import { exportFile } from './subscription/export.ts';
import { offer } from './subscription/find.ts';
import { discardButton, importButton, importFile } from './subscription/import.ts';
import { actMenu, list, listButton } from './subscription/list.ts';
import { MUTE_CHOICES, mute, muteButton } from './subscription/mute.ts';
import { addMoreOptions, addSharedOptions } from './subscription/options.ts';
import { panelButtons, panelForms } from './subscription/panel.ts';
import { askRemoveButton, cancelRemoveButton, confirmRemoveButton, remove } from './subscription/remove.ts';
import { test, testButton } from './subscription/sample.ts';
import { offerTokens } from './subscription/token-book.ts';

const withSubscription = (
  command: SlashCommandSubcommandBuilder,
  description = 'Which one: label, address or number',
) =>
  command.addStringOption((option) =>
    option
      .setName('subscription')
      .setDescription(description)
      .setRequired(true)
      .setAutocomplete(true)
      .setMaxLength(300),
  );

/** `/subscription`: which addresses the guild watches, and what is posted where. */
export const subscription = {
  data: define('subscription', 'Watch addresses and choose which alerts go where')
    .addSubcommand((command) =>
      addSharedOptions(
        command
          .setName('add')
          .setDescription('Watch an address: a wallet or a token')
          .addStringOption((option) =>
            option
              .setName('address')
              .setDescription('0x followed by 40 hexadecimal digits')
              .setRequired(true)
              .setMaxLength(300),
          ),
      ),
    )
    .addSubcommand((command) =>
      command
        .setName('list')
        .setDescription('List what this server watches')
        .addChannelOption((option) =>
          option
            .setName('channel')
            .setDescription('Only this channel')
            .addChannelTypes(...TARGET_TYPES),
        ),
    )
    .addSubcommand((command) =>
      addMoreOptions(
        addSharedOptions(withSubscription(command.setName('edit').setDescription('Change what is posted, or where'))),
      ),
    )
    .addSubcommand((command) =>
      withSubscription(command.setName('remove').setDescription('Stop watching an address in a channel')),
    )
    .addSubcommand((command) =>
      withSubscription(command.setName('pause').setDescription('Stop alerts until you resume')),
    )
    .addSubcommand((command) =>
      withSubscription(command.setName('resume').setDescription('Turn paused alerts back on')),
    )
    .addSubcommand((command) =>
      withSubscription(
        command.setName('mute').setDescription('Stop alerts for a while'),
        'Which one: label, address, number, or "all"',
      )
        .addStringOption((option) =>
          option
            .setName('duration')
            .setDescription('How long')
            .setRequired(true)
            .addChoices(...MUTE_CHOICES),
        )
        .addStringOption((option) =>
          option
            .setName('token')
            .setDescription('With "all": mute only this token, in the whole server (address, symbol or "native")')
            .setAutocomplete(true)
            .setMaxLength(300),
        ),
    )
    .addSubcommand((command) =>
      withSubscription(command.setName('test').setDescription('Post a sample alert, marked as such')),
    )
    .addSubcommand((command) =>
      command
        .setName('import')
        .setDescription('Add and change subscriptions from a CSV file (asks first)')
        .addAttachmentOption((option) =>
          option.setName('file').setDescription('A CSV file like the one from export, up to 256 KiB').setRequired(true),
        ),
    )
    .addSubcommand((command) =>
      command.setName('export').setDescription('Download all subscriptions and labels as a CSV file'),
    ),
  access: { list: 'all' },
  execute: bySubcommand<CommandContext>({
    add,
    list,
    edit,
    remove,
    pause: (interaction, context) => pause(interaction, context, true),
    resume: (interaction, context) => pause(interaction, context, false),
    mute,
    test,
    import: importFile,
    export: exportFile,
  }),
  autocomplete(interaction, context) {
    return interaction.options.getFocused(true).name === 'token'
      ? offerTokens(interaction, context)
      : offer(interaction, context);
  },
  menus: { act: actMenu },
  forms: panelForms,
  buttons: {
    ...panelButtons,
    mute: muteButton,
    test: testButton,
    remove: askRemoveButton,
    list: listButton,
    drop: confirmRemoveButton,
    keep: cancelRemoveButton,
    import: importButton,
    discard: discardButton,
  },
} satisfies Command<CommandContext>;
