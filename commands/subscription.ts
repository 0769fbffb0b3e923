import type { Command } from '../src/discord/command.ts';
import { attachment, channel, choice, lookedUp, text, withSubcommands } from './shared/define.ts';
import { networkOption } from './shared/networks.ts';
import type { Context } from './shared/services.ts';
import { offerTokens } from './shared/tokens.ts';
import { add } from './subscription/add.ts';
import { edit, pausing } from './subscription/change.ts';
import { exportFile } from './subscription/file.ts';
import { offer } from './subscription/find.ts';
import { groupButton, someMenu } from './subscription/group.ts';
import { discardButton, importButton, importFile } from './subscription/import.ts';
import { actMenu, list, listButton } from './subscription/list.ts';
import { MUTE_CHOICES, mute, muteButton } from './subscription/mute.ts';
import { optionsOf } from './subscription/options.ts';
import { panelButtons, panelForms } from './subscription/panel.ts';
import { removalButtons, remove } from './subscription/remove.ts';
import { sample } from './subscription/sample.ts';

const WHICH = lookedUp('subscription', 'Which one: label, address or number');

export const subscription = {
  section: 'watch',
  ...withSubcommands('subscription', 'Watch addresses and choose which alerts go where', {
    add: {
      description: 'Watch an address: a wallet or a token',
      options: [
        text('address', '0x followed by 40 hexadecimal digits', { required: true, max_length: 6_000 }),
        ...optionsOf('add'),
        networkOption('Watch it only on this network (default: every network)'),
      ],
      execute: add,
    },
    list: {
      description: 'List what this server watches',
      access: 'all',
      options: [channel('channel', 'Only this channel'), networkOption('Only what is watched on this network')],
      execute: list,
    },
    edit: {
      description: 'Change what is posted, or where',
      options: [WHICH, ...optionsOf('edit'), networkOption('Watch it only on this network, or on any')],
      execute: edit,
    },
    remove: { description: 'Stop watching an address in a channel', options: [WHICH], execute: remove.execute },
    pause: { description: 'Stop alerts until you resume', options: [WHICH], execute: pausing(true) },
    resume: { description: 'Turn paused alerts back on', options: [WHICH], execute: pausing(false) },
    mute: {
      description: 'Stop alerts for a while',
      options: [
        lookedUp('subscription', 'Which one: label, address, number, or "all"'),
        choice('duration', 'How long', MUTE_CHOICES, true),
        text('token', 'With "all": mute only this token, in the whole server (address, symbol or "native")', {
          autocomplete: true,
          max_length: 300,
        }),
      ],
      execute: mute,
    },
    test: { description: 'Post a sample alert, marked as such', options: [WHICH], execute: sample.execute },
    import: {
      description: 'Add and change subscriptions from a CSV file (asks first)',
      options: [attachment('file', 'A CSV file like the one from export, up to 256 KiB')],
      execute: importFile,
    },
    export: { description: 'Download all subscriptions and labels as a CSV file', execute: exportFile },
  }),
  autocomplete: (interaction, context) =>
    (interaction.options.getFocused(true).name === 'token' ? offerTokens : offer)(interaction, context),
  menus: { act: actMenu, some: someMenu },
  forms: panelForms,
  buttons: {
    ...panelButtons,
    ...removalButtons,
    remove: remove.button,
    mute: muteButton,
    test: sample.button,
    list: listButton,
    import: importButton,
    discard: discardButton,
    group: groupButton,
  },
} satisfies Command<Context>;
