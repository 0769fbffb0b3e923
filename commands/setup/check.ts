import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { rows } from '../shared/components.ts';
import { pauseLines } from '../shared/pauses.ts';
import { embedReply, relativeTime } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { receiverUrlButton } from '../shared/webhooks.ts';
import { checkChannels, checkRoles } from './check-channels.ts';
import { checkInterfaces } from './check-interfaces.ts';
import { type CheckProjectNeeds, checkProject } from './check-project.ts';
import { type Finding, fault, fine, hint } from './finding.ts';

type Needs = CheckProjectNeeds &
  ContextWith<'guildChannels' | 'subscriptions' | 'metrics' | 'sendingHold' | 'sendingPauses' | 'probeReceiver'>;

const MARKS: Record<Finding['tone'], string> = { fault: '❌', hint: '⏳', fine: '✅' };

/** `/setup check`: everything that an admin may have to fix, with the fix; faults first. */
export async function check(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t, projects } = context;
  const findings = await findingsOf(interaction, context);
  const of = (tone: Finding['tone']) => findings.filter((finding) => finding.tone === tone);
  const faults = of('fault');
  const lines = [...faults, ...of('hint'), ...of('fine')].map(({ tone, text }) => `${MARKS[tone]} ${text}`);
  const calm = of('hint').length === 0 ? t('setup.check.fine') : t('setup.check.open');
  const title = faults.length === 0 ? calm : t('setup.check.faults', { count: faults.length });
  const { scope } = await projects.of(interaction.guildId);
  const fixes = faults.flatMap(({ action }) => action ?? []);
  return embedReply(faults.length === 0 ? 'good' : 'warn', title, lines, {
    components: rows([...fixes, ...(scope === null ? [] : [receiverUrlButton(t)])]),
  });
}

/** The findings of every check. */
async function findingsOf(interaction: CommandUse, context: Needs): Promise<Finding[]> {
  const { guildId } = interaction;
  const { t, metrics } = context;
  const [all, { blocked, waiting, held }] = await Promise.all([
    context.subscriptions.list(guildId),
    metrics.guild(guildId),
  ]);
  const pauses = context.sendingPauses(guildId);
  const channels = [...all, ...blocked, ...pauses].flatMap(({ channelId }) => channelId ?? []);
  const hidden = await hiddenFrom(interaction, channels, context);
  const isSeen = ({ channelId }: { channelId: string | null }) => channelId === null || !hidden.has(channelId);
  const subscriptions = all.filter(isSeen);
  const unseen = all.length - subscriptions.length;
  const isAllHidden = all.length > 0 && subscriptions.length === 0;
  const [ofChannels, ofReceiver, ofProject] = await Promise.all([
    isAllHidden ? [] : checkChannels(interaction, context, subscriptions, blocked.filter(isSeen)),
    checkReceiver(context),
    checkProject(guildId, context, subscriptions),
    context.interfaces.check(),
  ]);
  const hold = context.sendingHold(guildId);
  const counts = `${t('status.alerts', { count: waiting })}, ${t('status.held', { count: held })}`;
  return [
    ...(hold ? [fault(t('setup.check.together', { refusals: hold.refusals, due: relativeTime(hold.probeAt) }))] : []),
    ...checkRoles(interaction, context, subscriptions),
    ...ofChannels,
    ofReceiver,
    ...ofProject,
    ...checkInterfaces(context),
    ...(held > 0 ? [hint(`${t('status.waiting')}: ${counts}`)] : []),
    ...(waiting > held ? pauseLines(pauses.filter(isSeen), t).map(hint) : []),
    ...(unseen > 0 ? [hint(t('setup.check.unseen', { count: unseen }))] : []),
  ];
}

async function checkReceiver({ t, probeReceiver, settings }: Needs): Promise<Finding> {
  const url = `\`${settings.publicUrl}\``;
  const found = await probeReceiver();
  switch (found.status) {
    case 'reachable':
      return fine(t('setup.check.receiverFine', { url }));
    case 'other':
      return fault(t('setup.check.receiverOther', { url, code: found.code }));
    case 'wrong-name':
      return fault(t('setup.check.unreachable.wrongName', { url }));
    case 'no-tls':
      return fault(t('setup.check.unreachable.noTls', { url }));
    case 'dns':
    case 'refused':
    case 'timeout':
    case 'untrusted':
    case 'expired':
    case 'away':
      return fault(t(`setup.check.unreachable.${found.status}`, { url }));
  }
}
