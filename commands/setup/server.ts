import type { Choice, CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import type { ServerSettings } from '../../src/store/servers.ts';
import { checkTarget } from '../parts/channel.ts';
import { note } from '../parts/reply.ts';

/** Discord's codes of the languages that can be chosen. */
export const LANGUAGES = [
  { name: 'English', value: 'en-US' },
  { name: 'Español', value: 'es-ES' },
  { name: 'Português (Brasil)', value: 'pt-BR' },
  { name: 'Français', value: 'fr' },
  { name: 'Deutsch', value: 'de' },
  { name: '日本語', value: 'ja' },
  { name: '简体中文', value: 'zh-CN' },
];

/** `/setup server`: changes what is named and shows how it stands. */
export async function server(interaction: CommandUse, { store, now, t }: CommandContext): Promise<Reply> {
  const { guildId, options } = interaction;
  const changed: Partial<ServerSettings> = {};
  const channel = options.getChannel('channel');
  if (channel) {
    checkTarget(interaction, channel.id, channel, t);
    changed.defaultChannel = channel.id;
  }
  const role = options.getRole('manager');
  if (role) changed.managerRole = role.id === guildId ? null : role.id;
  const timezone = options.getString('timezone');
  if (timezone !== null) changed.timezone = readTimezone(timezone);
  const language = options.getString('language');
  if (language !== null) changed.language = language;
  const any = Object.keys(changed).length > 0;
  const after = any ? await store.servers.change(guildId, changed) : await store.servers.settings(guildId);
  if (any) {
    const entry = { guildId, userId: interaction.user.id, action: 'setup.server', detail: changed, at: now() };
    await store.servers.record(entry);
  }
  const languageName = LANGUAGES.find(({ value }) => value === after.language)?.name;
  return note(any ? 'good' : 'info', any ? 'Saved' : 'How this server is set up', [], {
    fields: [
      {
        name: 'Alerts go to',
        value: after.defaultChannel ? `<#${after.defaultChannel}>` : 'where the command is used',
      },
      {
        name: 'Who may configure',
        value: `Manage Server${after.managerRole ? ` and <@&${after.managerRole}>` : ' only; choose a role with `manager`'}`,
      },
      { name: 'Time zone', value: after.timezone ?? 'not set (each reader’s own)', inline: true },
      { name: 'Language', value: languageName ?? 'not set (English)', inline: true },
    ],
  });
}

function readTimezone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions().timeZone;
  } catch {
    throw new UserError(
      'This is no time zone that I know. Use a name like `Europe/Lisbon` or `UTC`; pick one from the list that opens ' +
        'as you type a city.',
    );
  }
}

/** Time zones that fit what was typed. */
export function timezones(typed: string): Choice[] {
  const wanted = typed.trim().toLowerCase().replaceAll(' ', '_');
  return ['UTC', ...Intl.supportedValuesOf('timeZone')]
    .filter((name) => name.toLowerCase().includes(wanted))
    .map((name) => ({ name, value: name }));
}
