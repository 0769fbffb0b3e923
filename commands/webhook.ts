import type { Command } from '../src/discord/command.ts';
import { text, withSubcommands } from './shared/define.ts';
import { networkOption, perNetwork } from './shared/networks.ts';
import type { Context } from './shared/services.ts';
import { adding } from './webhook/add-addresses.ts';
import { choices, list, namingOfWebhooks } from './webhook/list.ts';
import { preview, removalButtons, removeAddressButton } from './webhook/remove.ts';

const NETWORK_OPTION = networkOption('The network of the webhooks (default: the first)');

export const webhook = perNetwork<Command<Context>>({
  section: 'service',
  ...withSubcommands('webhook', 'Manage the webhooks of the notification project', {
    list: {
      description: 'List the project’s webhooks and which of them post here',
      options: [NETWORK_OPTION],
      execute: (_, context) => list(context),
    },
    remove: {
      description: 'Remove addresses from a webhook (shows a preview first)',
      options: [
        text('webhook', 'The webhook’s ID', { required: true, autocomplete: true, max_length: 100 }),
        text('addresses', 'One or more addresses, separated by spaces, commas or line breaks', {
          required: true,
          max_length: 6_000,
        }),
        NETWORK_OPTION,
      ],
      execute: preview,
    },
  }),
  autocomplete: ({ options }, context) => choices(options.getFocused(), context),
  buttons: { ...adding.buttons, ...removalButtons, drain: removeAddressButton },
  menus: { ...adding.menus, ...namingOfWebhooks.menus },
  forms: { ...adding.forms, ...namingOfWebhooks.forms },
});
