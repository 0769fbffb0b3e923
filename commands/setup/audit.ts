import type { Button, ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import type { AuditEntry } from '../../src/domain/guild.ts';
import { inCode } from '../../src/domain/text.ts';
import { pager, rows } from '../shared/components.ts';
import { absoluteTime, embedReply } from '../shared/reply.ts';
import { hasManageServer } from '../shared/rights.ts';
import type { ContextWith } from '../shared/services.ts';

type Needs = ContextWith<'audit'>;

const PER_PAGE = 8;
/** Maximum characters of an entry's detail. */
const MAX_DETAIL = 220;
/** Actions whose details name watched addresses. */
const ABOUT_ADDRESSES = /^(subscription|webhook)\./;

/** `/setup audit`: who changed what, latest first, in pages counted from 0. */
export async function audit(interaction: CommandUse | ButtonUse, context: Needs, page = 0): Promise<Reply> {
  const { t } = context;
  const index = Math.max(0, Math.trunc(page) || 0);
  const { total, entries } = await context.audit.page(interaction.guildId, index * PER_PAGE, PER_PAGE);
  if (total === 0) return embedReply('info', t('setup.audit.none'), [t('setup.audit.kept')]);
  const pages = Math.ceil(total / PER_PAGE);
  if (index >= pages) return audit(interaction, context, pages - 1);
  const isWhole = hasManageServer(interaction);
  const lines = entries.flatMap((entry) => linesOf(entry, isWhole, context));
  const turn = pager(t, index, pages, (to) => `setup:audit:${to}`);
  const position = pages > 1 ? `${t('reply.page', { page: index + 1, pages })} · ` : '';
  return embedReply('info', t('setup.audit.title', { count: total }), lines, {
    footer: { text: `${position}${t('setup.audit.kept')}` },
    components: rows(turn),
  });
}

/** Somebody with only the manager role may not see every channel, so details that name watched addresses are hidden. */
function linesOf({ action, userId, at, detail }: AuditEntry, isWhole: boolean, { t }: Needs): string[] {
  // A later version may have stored an action that this one has no text for.
  const words = t(`setup.audit.action.${action.replaceAll('.', '-')}` as 'setup.audit.action.setup-server', {
    defaultValue: inCode(action.replaceAll('.', ' '), '?'),
  });
  const isShown = isWhole || !ABOUT_ADDRESSES.test(action);
  const text = isShown ? textOf(detail) : '';
  return [
    `**${words}** · <@${userId}> · ${absoluteTime(at)}`,
    ...(text === '' ? [] : [`-# ${inCode(text, '', MAX_DETAIL)}`]),
  ];
}

/** `name: value, …`; everything in an entry is hostile text. */
function textOf(detail: unknown): string {
  if (typeof detail !== 'object' || detail === null) return '';
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** `setup:audit:<page>` */
export const auditButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  press: (interaction, [page], context) => audit(interaction, context, Number(page)),
};
