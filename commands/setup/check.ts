import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { note, press, row } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { checkChannels, checkRoles } from './check-channels.ts';
import { checkProject } from './check-project.ts';
import { type Finding, fault, fine, hint } from './finding.ts';

type Needs = ContextWith<
  | 'subscriptions'
  | 'metrics'
  | 'storedProjects'
  | 'projects'
  | 'receiver'
  | 'settings'
  | 'now'
  | 'lastRefused'
  | 'probeReceiver'
>;

const MARKS: Record<Finding['tone'], string> = { fault: '❌', hint: '⏳', fine: '✅' };

/** `/setup check`: everything that an admin could have wrong, each with its fix; what is wrong comes first. */
export async function check(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { guildId } = interaction;
  const { t, metrics, projects } = context;
  const [all, { stopped }] = await Promise.all([context.subscriptions.list(guildId), metrics.guild(guildId)]);
  const channels = [...all, ...stopped].map(({ channelId }) => channelId);
  const hidden = await hiddenFrom(interaction, channels, context);
  const seen = ({ channelId }: { channelId: string }) => !hidden.has(channelId);
  const subscriptions = all.filter(seen);
  const unseen = all.length - subscriptions.length;
  const parts = await Promise.all([
    all.length > 0 && subscriptions.length === 0
      ? []
      : checkChannels(interaction, context, subscriptions, stopped.filter(seen)),
    receiver(context),
    checkProject(guildId, context, subscriptions),
  ]);
  const findings = [
    ...checkRoles(interaction, context, subscriptions),
    ...parts.flat(),
    ...(unseen > 0 ? [hint(t('setup.check.unseen', { count: unseen }))] : []),
  ];
  const of = (tone: Finding['tone']) => findings.filter((finding) => finding.tone === tone);
  const faults = of('fault');
  const lines = [...faults, ...of('hint'), ...of('fine')].map(({ tone, text }) => `${MARKS[tone]} ${text}`);
  const title = faults.length === 0 ? t('setup.check.fine') : t('setup.check.faults', { count: faults.length });
  const { scope } = await projects.of(guildId);
  const components = scope === null ? [] : [row(press(t('webhook.list.receiver'), 'setup:receiver'))];
  return note(faults.length === 0 ? 'good' : 'warn', title, lines, { components });
}

async function receiver({ t, probeReceiver, settings }: Needs): Promise<Finding> {
  const url = `\`${settings.publicUrl}\``;
  switch (await probeReceiver()) {
    case 'reachable':
      return fine(t('setup.check.receiverFine', { url }));
    case 'other':
      return fault(t('setup.check.receiverOther', { url }));
    case 'unreachable':
      return fault(t('setup.check.receiverAway', { url }));
  }
}
