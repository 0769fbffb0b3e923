import { ApplicationCommandOptionType } from 'discord.js';
import type { AnyCommand, Command } from '../src/discord/command.ts';
import { pathIn, wordingsOf } from '../src/languages/definitions.ts';
import type { Language } from '../src/languages/index.ts';
import { define } from './shared/define.ts';
import { embedReply } from './shared/reply.ts';

/** Commands in the order in which a newcomer needs them, by heading. */
const SECTIONS = [
  ['watch', ['subscription']],
  ['understand', ['why', 'activity', 'label']],
  ['lookUp', ['token', 'provider']],
  ['service', ['webhook']],
  ['server', ['setup', 'status']],
] as const;

/** Lists these commands with the descriptions of their definitions. */
export function helpFor(commands: readonly AnyCommand<never>[]): Command {
  return {
    data: define('help', 'What this bot can do'),
    access: 'all',
    async execute(_, { t, language, manages }) {
      const sections = SECTIONS.map(([section, names]) => ({ section, lines: listed(commands, names, language) }));
      const first = manages
        ? ['check', 'add', 'list'].map((step, index) => `${index + 1}. ${t(`help.first.${step as 'check'}`)}`)
        : [t('help.first.member')];
      const inMenus = commands.filter((command) => 'kind' in command).map(({ data: { name } }) => name);
      const called = inMenus.map((name) => `**${wordingsOf(language)[name]?.name ?? name}**`);
      const menu = called.length > 0 ? [t('help.menu', { name: called.join(' · ') })] : [];
      return embedReply('info', t('help.title'), [
        t('help.intro'),
        `### ${t('help.first.title')}`,
        ...first,
        ...sections.flatMap(({ section, lines }) =>
          lines.length > 0 ? [`### ${t(`help.${section}`)}`, ...lines, ...(section === 'watch' ? menu : [])] : [],
        ),
        `-# ${t('help.manage')}`,
      ]);
    },
  };
}

/** One line for each command that can be typed. */
function listed(commands: readonly AnyCommand<never>[], names: readonly string[], language: Language): string[] {
  const wordings = wordingsOf(language);
  const line = (path: string, english: string, needsManager: boolean) =>
    `\`/${pathIn(language, path)}\` – ${wordings[path]?.description ?? english}${needsManager ? ' 🔒' : ''}`;
  return names.flatMap((wanted) => {
    const found = commands.find((command) => !('kind' in command) && command.data.name === wanted);
    if (!found || 'kind' in found) return [];
    const { name, description, options = [] } = found.data.toJSON();
    const { access } = found;
    const needs = (subcommand: string) => (typeof access === 'string' ? access : access[subcommand]) !== 'all';
    const subs = options.filter(({ type }) => type === ApplicationCommandOptionType.Subcommand);
    return subs.length > 0
      ? subs.map((sub) => line(`${name} ${sub.name}`, sub.description, needs(sub.name)))
      : [line(name, description, needs(''))];
  });
}
