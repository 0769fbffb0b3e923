import type { Command } from '../src/discord/command.ts';
import { bySubcommand, define } from './shared/define.ts';
import type { CommandContext } from './shared/services.ts';
import { addAddressesButton, idButton, idForm, pickMenu } from './webhook/add-addresses.ts';
import { createButton } from './webhook/create.ts';
import { choices, list } from './webhook/list.ts';
import { nameForm, nameMenu } from './webhook/name.ts';
import { cancelButton, confirmButton, preview, removeSubscriptionsButton, restoreButton } from './webhook/remove.ts';
import { removeAddressButton } from './webhook/remove-address.ts';

/** `/webhook`: the webhooks of the project at the notification service. */
export const webhook = {
  data: define('webhook', 'Manage the webhooks of the notification project')
    .addSubcommand((command) =>
      command.setName('list').setDescription('List the project’s webhooks and which of them post here'),
    )
    .addSubcommand((command) =>
      command
        .setName('remove')
        .setDescription('Remove addresses from a webhook (shows a preview first)')
        .addStringOption((option) =>
          option
            .setName('webhook')
            .setDescription('The webhook’s ID')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(100),
        )
        .addStringOption((option) =>
          option
            .setName('addresses')
            .setDescription('One or more addresses, separated by spaces, commas or line breaks')
            .setRequired(true)
            .setMaxLength(6_000),
        ),
    ),
  access: 'manage',
  execute: bySubcommand<CommandContext>({
    list: ({ guildId }, context) => list(guildId, context),
    remove: preview,
  }),
  autocomplete: ({ guildId, options }, context) => choices(guildId, options.getFocused(), context),
  buttons: {
    confirm: confirmButton,
    cancel: cancelButton,
    forget: removeSubscriptionsButton,
    restore: restoreButton,
    fill: addAddressesButton,
    id: idButton,
    create: createButton,
    drain: removeAddressButton,
  },
  menus: { name: nameMenu, pick: pickMenu },
  forms: { name: nameForm, id: idForm },
} satisfies Command<CommandContext>;
