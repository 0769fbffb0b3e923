import type { Button, ButtonUse, Choice, CommandUse, Reply } from '../../src/discord/command.ts';
import type { GuildSettings } from '../../src/domain/guild.ts';
import { type AlertStyle, styleOf } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import { nameIn } from '../../src/languages/definitions.ts';
import { LANGUAGES, type Language, languageOf, type Translate } from '../../src/languages/index.ts';
import { record } from '../shared/audit.ts';
import { button, rows } from '../shared/components.ts';
import { embedReply, withInput } from '../shared/reply.ts';
import { requireManageServer } from '../shared/rights.ts';
import type { ContextWith } from '../shared/services.ts';
import { invalidChoiceError } from '../shared/suggestions.ts';
import { checkTarget } from '../shared/target.ts';

type Needs = ContextWith<'guildChannels' | 'guilds' | 'audit' | 'now'>;

/** How many characters a suggested time zone has in common with the typed text. */
const MIN_SHARED_CHARACTERS = 4;

/** The languages to choose from, each by its own name. */
export const LANGUAGE_CHOICES = Object.entries(LANGUAGES).map(([value, name]) => ({ name, value }));

/** `/setup server`: changes the given settings and shows all of them. */
export async function server(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t, guilds } = context;
  const { guildId, options } = interaction;
  const changed: Partial<GuildSettings> = {};
  const channel = options.getChannel('channel');
  if (channel) {
    await checkTarget(interaction, channel.id, channel, context);
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
  if (style !== null) changed.style = readStyle(style, context);
  return Object.keys(changed).length > 0
    ? save(interaction, context, changed)
    : settingsNote(await guilds.settings(guildId), 'info', t);
}

async function save(
  interaction: CommandUse | ButtonUse,
  context: Needs,
  changed: Partial<GuildSettings>,
): Promise<Reply> {
  const after = await context.guilds.changeSettings(interaction.guildId, changed);
  await record(interaction, context, 'setup.server', changed);
  return settingsNote(after, 'good', context.t);
}

/** The guild's settings; `good`: they were just changed. */
function settingsNote(
  { defaultChannel, managerRole, timezone, language, style }: GuildSettings,
  tone: 'good' | 'info',
  t: Translate,
): Reply {
  const languageName = language === null ? undefined : LANGUAGES[language as Language];
  return embedReply(tone, t(tone === 'good' ? 'setup.server.saved' : 'setup.server.title'), [], {
    fields: [
      {
        name: t('setup.server.channel'),
        value: defaultChannel ? `<#${defaultChannel}>` : t('setup.server.anyChannel'),
      },
      {
        name: t('setup.server.manager'),
        value: managerRole
          ? t('setup.server.managerRole', { role: `<@&${managerRole}>` })
          : t('setup.server.managerNone'),
      },
      { name: t('setup.server.timezone'), value: timezone ?? t('setup.server.noTimezone'), inline: true },
      { name: t('setup.server.language'), value: languageName ?? t('setup.server.noLanguage'), inline: true },
      { name: t('setup.server.style'), value: t(`setup.server.styles.${styleOf(null, style)}`), inline: true },
    ],
    footer: { text: t('setup.server.footer') },
    components: rows(defaultChannel ? [button(t('setup.server.unset'), `setup:unset:${defaultChannel}`)] : []),
  });
}

/** `setup:unset:<channel>`: a button, because an option cannot mean "no default channel". */
export const unsetButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [channelId], context) {
    const settings = await context.guilds.settings(interaction.guildId);
    // Another channel may have been chosen since the question.
    if (settings.defaultChannel !== channelId) return settingsNote(settings, 'info', context.t);
    return save(interaction, context, { defaultChannel: null });
  },
};

/**
 * The canonical name, or null if there is no such time zone. Refuses offsets like `+02:00`, which have no daylight
 * saving time.
 */
function readTimezone(text: string): string | null {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text.trim() }).resolvedOptions();
    return /^[+-]/.test(timeZone) ? null : timeZone;
  } catch {
    return null;
  }
}

/** The error for an unknown time zone, with a suggestion if there is a similar one. */
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
function readLanguage(typed: string, { t, language }: ContextWith): Language {
  const found = languageOf(typed);
  if (found.split('-')[0] === typed.split('-')[0]) return found;
  const known = LANGUAGE_CHOICES.map(({ value }) => value);
  throw withInput(invalidChoiceError(nameIn(language, 'setup server language'), typed, known, t), typed, t);
}

function readStyle(typed: string, { t, language }: ContextWith): AlertStyle {
  if (typed === 'compact' || typed === 'full') return typed;
  throw withInput(invalidChoiceError(nameIn(language, 'setup server style'), typed, ['compact', 'full'], t), typed, t);
}

/** Time zones that match the typed text. */
export function timezones(typed: string): Choice[] {
  const wanted = typed.trim().toLowerCase().replaceAll(' ', '_');
  const matching = ['UTC', ...Intl.supportedValuesOf('timeZone')].filter((name) => name.toLowerCase().includes(wanted));
  // `lis` means Lisbon rather than Tbilisi.
  const begins = Map.groupBy(matching, (name) => `/${name.toLowerCase()}`.includes(`/${wanted}`));
  return [...(begins.get(true) ?? []), ...(begins.get(false) ?? [])].map((name) => ({ name, value: name }));
}
