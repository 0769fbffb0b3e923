import { ApplicationCommandOptionType } from 'discord.js';
import type { AnyCommand, Command } from '../src/discord/command.ts';
import { type Language, pathIn, wordingsOf } from '../src/languages/index.ts';
import { define } from './shared/define.ts';
import { embedReply } from './shared/reply.ts';

/** The headings, in the order in which a newcomer needs them. */
const SECTIONS = ['watch', 'understand', 'lookUp', 'service', 'server'] as const satisfies Command['section'][];

export function helpFor(commands: readonly AnyCommand<never>[]): Command {
  return {
    data: define('help', 'What this bot can do'),
    access: 'all',
    async execute(_, { t, language, manages }) {
      const sections = SECTIONS.map((section) => ({ section, lines: listed(commands, section, language) }));
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

function listed(commands: readonly AnyCommand<never>[], section: Command['section'], language: Language): string[] {
  const wordings = wordingsOf(language);
  const line = (path: string, english: string, needsManager: boolean) =>
    `\`/${pathIn(language, path)}\` – ${wordings[path]?.description ?? english}${needsManager ? ' 🔒' : ''}`;
  return commands.flatMap((command) => {
    if ('kind' in command || command.section !== section) return [];
    const { name, description, options = [] } = command.data;
    const { access } = command;
    const needs = (subcommand: string) => (typeof access === 'string' ? access : access[subcommand]) !== 'all';
    const subs = options.filter(({ type }) => type === ApplicationCommandOptionType.Subcommand);
    return subs.length > 0
      ? subs.map((sub) => line(`${name} ${sub.name}`, sub.description, needs(sub.name)))
      : [line(name, description, needs(''))];
  });
}
