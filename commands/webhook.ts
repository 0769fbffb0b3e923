import type { Command } from '../src/discord/command.ts';
import { define } from './shared/define.ts';
import { choices, list } from './webhook/list.ts';
import { nameForm, nameMenu } from './webhook/name.ts';
import { cancelButton, confirmButton, forgetButton, preview } from './webhook/remove.ts';

/** The webhooks of the project at the notification service. */
export const webhook = {
  data: define('webhook', 'The webhooks of the notification project')
    .addSubcommand((command) =>
      command.setName('list').setDescription('The project’s webhooks, and which of them point at this bot'),
    )
    .addSubcommand((command) =>
      command
        .setName('remove')
        .setDescription('Take addresses out of a webhook; shows a preview first')
        .addStringOption((option) =>
          option
            .setName('webhook')
            .setDescription('The webhook’s id')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(100),
        )
        .addStringOption((option) =>
          option
            .setName('addresses')
            .setDescription('One or many, with spaces, commas or line breaks between them')
            .setRequired(true)
            .setMaxLength(6_000),
        ),
    ),
  access: 'manage',
  execute(interaction, context) {
    const name = interaction.options.getSubcommand();
    return name === 'list' ? list(interaction.guildId, context) : preview(interaction, context);
  },
  autocomplete: ({ guildId, options }, context) => choices(guildId, options.getFocused(), context),
  buttons: { confirm: confirmButton, cancel: cancelButton, forget: forgetButton },
  menus: { name: nameMenu },
  forms: { name: nameForm },
} satisfies Command;
