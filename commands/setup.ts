import type { Command } from '../src/discord/command.ts';
import { audit } from './setup/audit.ts';
import { check } from './setup/check.ts';
import { askToErase, eraseButtons } from './setup/forget.ts';
import { panelButtons, projectForm, projectFormSubmit } from './setup/project.ts';
import { LANGUAGE_CHOICES, server, timezones, unsetButton } from './setup/server.ts';
import { channel, choice, role, same, text, withSubcommands } from './shared/define.ts';
import { networkOption, perNetwork } from './shared/networks.ts';
import type { Context } from './shared/services.ts';

const parts = withSubcommands('setup', 'Set up this server and check that everything works', {
  server: {
    description: 'Set alert channel, manager role, time zone, language and style, or show them',
    options: [
      channel('channel', 'Default channel for new subscriptions'),
      role('manager', 'Role that may also configure the bot (@everyone removes it)'),
      text('timezone', 'Time zone, like Europe/Lisbon', { autocomplete: true, max_length: 50 }),
      choice('language', 'The language of this server', LANGUAGE_CHOICES),
      choice('style', 'How alerts look: two lines each, or tall cards with every detail', same('compact', 'full')),
      choice(
        'statement',
        'How often to post what each wallet had, got and sent (needs a node)',
        same('off', 'weekly', 'monthly'),
      ),
    ],
    execute: server,
  },
  project: {
    description: 'Connect your own notification project (opens a form for its ID and keys)',
    options: [networkOption('The network of the project (default: the first)')],
    opens: (_, context) => projectForm(context),
  },
  check: { description: 'Test everything and show how to fix what is wrong', execute: check },
  audit: { description: 'Show who changed what in the last year', execute: audit },
  forget: { description: 'Erase everything stored about this server (asks first)', execute: askToErase },
});

const project = perNetwork<Required<Pick<Command<Context>, 'opens' | 'forms' | 'buttons'>>>({
  opens: parts.opens,
  forms: { project: projectFormSubmit },
  buttons: panelButtons,
});

export const setup = {
  section: 'server',
  ...parts,
  ...project,
  autocomplete: async ({ options }) => timezones(options.getFocused()),
  buttons: {
    ...project.buttons,
    ...eraseButtons,
    check: { press: (interaction, _, context) => check(interaction, context) },
    unset: unsetButton,
    audit: { press: (interaction, [page], context) => audit(interaction, context, Number(page)) },
  },
} satisfies Command<Context>;
