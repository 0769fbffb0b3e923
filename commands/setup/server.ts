import { Temporal } from 'temporal-polyfill';
import type { Button, Choice, CommandUse, Reply } from '../../src/discord/command.ts';
import { type GuildSettings, STATEMENT_PERIODS } from '../../src/domain/guild.ts';
import { styleOf } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import { languageOf, type Translate } from '../../src/languages/index.ts';
import { LANGUAGES, type Language } from '../../src/languages/languages.ts';
import { checkTarget, requireManageServer } from '../shared/channels.ts';
import { button, rows } from '../shared/components.ts';
import { hasNode } from '../shared/networks.ts';
import { record } from '../shared/records.ts';
import { embedReply, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { readChoice } from '../shared/suggestions.ts';

const MIN_SHARED_CHARACTERS = 4;

export const LANGUAGE_CHOICES = Object.entries(LANGUAGES).map(([value, name]) => ({ name, value }));

export async function server(interaction: CommandUse, context: Context): Promise<Reply> {
  const { t, guilds } = context;
  const { guildId, options } = interaction;
  const changed: Partial<GuildSettings> = {};
  const channel = options.getChannel('channel');
  if (channel) {
    await checkTarget(channel.id, channel, context);
    changed.defaultChannel = channel.id;
  }
  const role = options.get('manager')?.value;
  if (typeof role === 'string') {
    requireManageServer(interaction, t);
    changed.managerRole = role === guildId ? null : role;
  }
  const timezone = options.getString('timezone');
  if (timezone !== null) {
    const known = readTimezone(timezone);
    if (known === null) throw unknownTimezone(timezone, t);
    changed.timezone = known;
  }
  const language = options.getString('language');
  if (language !== null) changed.language = readLanguage(language, context);
  const style = options.getString('style');
  if (style !== null) changed.style = readChoice('setup server style', style, ['compact', 'full'], context);
  const statement = options.getString('statement');
  if (statement !== null) {
    const period = readChoice('setup server statement', statement, ['off', ...STATEMENT_PERIODS], context);
    changed.statement = period === 'off' ? null : period;
  }
  return Object.keys(changed).length > 0
    ? save(context, changed)
    : settingsNote(await guilds.settings(guildId), 'info', context);
}

async function save(context: Context, changed: Partial<GuildSettings>): Promise<Reply> {
  const after = await context.guilds.changeSettings(context.guildId, changed);
  await record(context, 'setup.server', changed);
  return settingsNote(after, 'good', context);
}

function settingsNote(
  { defaultChannel, managerRole, timezone, language, style, statement }: GuildSettings,
  tone: 'good' | 'info',
  { t, settings }: Context,
): Reply {
  const canRead = hasNode(settings, null);
  const note = canRead ? '' : ` · ${t('subscription.what.needsNode')}`;
  const channel = defaultChannel ? `<#${defaultChannel}>` : t('setup.server.anyChannel');
  const manager = managerRole && t('setup.server.managerRole', { role: `<@&${managerRole}>` });
  const languageName = language === null ? undefined : LANGUAGES[language as Language];
  return embedReply(tone, t(tone === 'good' ? 'setup.server.saved' : 'setup.server.title'), [t('setup.server.check')], {
    fields: [
      { name: t('setup.server.channel'), value: channel },
      { name: t('setup.server.manager'), value: manager ?? t('setup.server.managerNone') },
      { name: t('setup.server.timezone'), value: timezone ?? t('setup.server.noTimezone'), inline: true },
      { name: t('setup.server.language'), value: languageName ?? t('setup.server.noLanguage'), inline: true },
      { name: t('setup.server.style'), value: t(`setup.server.styles.${styleOf([null], style)}`), inline: true },
      ...(canRead || statement !== null
        ? [{ name: t('setup.server.statement'), value: `${t(`setup.server.statements.${statement ?? 'off'}`)}${note}` }]
        : []),
    ],
    components: rows(defaultChannel ? [button(t('setup.server.unset'), `setup:unset:${defaultChannel}`)] : []),
  });
}

/** `setup:unset:<channel>`: a button, because an option cannot mean "no default channel". */
export const unsetButton: Button<Context> = {
  async press(interaction, [channelId], context) {
    const settings = await context.guilds.settings(interaction.guildId);
    // Another channel may have been chosen since the question.
    if (settings.defaultChannel !== channelId) return settingsNote(settings, 'info', context);
    return save(context, { defaultChannel: null });
  },
};

/** The zones whose names Node lists as they were before the tz database renamed them. */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** Refuses offsets like `+02:00`, which have no daylight saving time. null: no such zone. */
function readTimezone(text: string): string | null {
  try {
    const { timeZoneId } = Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(searched(text));
    return /^[+-]/.test(timeZoneId) ? null : timeZoneId;
  } catch {
    return null;
  }
}

const searched = (text: string): string =>
  text.trim().normalize('NFD').replace(/\p{M}/gu, '').replaceAll(' ', '_').toLowerCase();

function unknownTimezone(typed: string, t: Translate): UserError {
  let start = typed.trim().slice(0, 50);
  // Typos are mostly near the end.
  while (start.length >= MIN_SHARED_CHARACTERS && timezones(start).length === 0) start = start.slice(0, -1);
  const [suggestion] = start.length >= MIN_SHARED_CHARACTERS ? timezones(start) : [];
  const reason = suggestion
    ? t('reply.suggestion', { text: `\`${suggestion.value}\`` })
    : t('setup.server.badTimezone');
  return withInput(new UserError(`${suggestion ? t('setup.server.unknownTimezone') : ''} ${reason}`.trim()), typed, t);
}

/** The supported language of a locale, by language if the country differs. */
function readLanguage(typed: string, context: Context): Language {
  const found = languageOf(typed);
  if (found.split('-')[0] === typed.split('-')[0]) return found;
  return readChoice('setup server language', typed, Object.keys(LANGUAGES) as Language[], context);
}

export function timezones(typed: string): Choice[] {
  const wanted = searched(typed);
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => ({
    name: RENAMED[name] ?? name,
    old: name,
  }));
  const has = (part: string) => zones.filter(({ name, old }) => `/${name} /${old}`.toLowerCase().includes(part));
  // `lis` means Lisbon rather than Tbilisi.
  return [...new Set([...has(`/${wanted}`), ...has(wanted)])].map(({ name }) => ({ name, value: name }));
}
