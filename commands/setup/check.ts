import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { pauseLines } from '../shared/pauses.ts';
import { ago, note, press, row } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { checkChannels, checkRoles } from './check-channels.ts';
import { checkInterfaces } from './check-interfaces.ts';
import { checkProject } from './check-project.ts';
import { type Finding, fault, fine, hint } from './finding.ts';

/** `/setup check`: what works in this server, and what an admin has to fix. */

type Needs = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'metrics'
  | 'storedProjects'
  | 'projects'
  | 'receiver'
  | 'settings'
  | 'now'
  | 'lastRefused'
  | 'lastBadSignature'
  | 'sendingHold'
  | 'receiverQuota'
  | 'sendingPauses'
  | 'probeReceiver'
  | 'interfaces'
>;

const MARKS: Record<Finding['tone'], string> = { fault: '❌', hint: '⏳', fine: '✅' };

/** `/setup check`: everything that an admin may have to fix, with the fix; faults come first. */
export async function check(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { guildId } = interaction;
  const { t, metrics, projects } = context;
  const [all, { stopped, waiting, held }] = await Promise.all([
    context.subscriptions.list(guildId),
    metrics.guild(guildId),
  ]);
  const channels = [...all, ...stopped].map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  const seen = ({ channelId }: { channelId: string }) => !hidden.has(channelId);
  const subscriptions = all.filter(seen);
  const unseen = all.length - subscriptions.length;
  const [parts] = await Promise.all([
    Promise.all([
      all.length > 0 && subscriptions.length === 0
        ? []
        : checkChannels(interaction, context, subscriptions, stopped.filter(seen)),
      receiver(context),
      checkProject(guildId, context, subscriptions),
    ]),
    context.interfaces.check(),
  ]);
  const hold = context.sendingHold(guildId);
  const pauses = context.sendingPauses(guildId).filter(({ channelId }) => channelId === null || !hidden.has(channelId));
  const waits = [
    ...(held > 0
      ? [
          hint(
            `${t('status.waiting')}: ${t('status.alerts', { count: waiting })}, ${t('status.held', { count: held })}`,
          ),
        ]
      : []),
    ...(waiting > held ? pauseLines(pauses, t).map(hint) : []),
  ];
  const findings = [
    ...(hold ? [fault(t('setup.check.together', { refusals: hold.refusals, due: ago(hold.probeAt) }))] : []),
    ...checkRoles(interaction, context, subscriptions),
    ...parts.flat(),
    ...checkInterfaces(context),
    ...waits,
    ...(unseen > 0 ? [hint(t('setup.check.unseen', { count: unseen }))] : []),
  ];
  const of = (tone: Finding['tone']) => findings.filter((finding) => finding.tone === tone);
  const faults = of('fault');
  const lines = [...faults, ...of('hint'), ...of('fine')].map(({ tone, text }) => `${MARKS[tone]} ${text}`);
  const calm = of('hint').length === 0 ? t('setup.check.fine') : t('setup.check.open');
  const title = faults.length === 0 ? calm : t('setup.check.faults', { count: faults.length });
  const { scope } = await projects.of(guildId);
  const buttons = [
    ...faults.flatMap(({ action }) => action ?? []),
    ...(scope === null ? [] : [press(t('webhook.list.receiver'), 'setup:receiver')]),
  ];
  const components = buttons.length === 0 ? [] : [row(...buttons)];
  return note(faults.length === 0 ? 'good' : 'warn', title, lines, { components });
}

async function receiver({ t, probeReceiver, settings }: Needs): Promise<Finding> {
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
