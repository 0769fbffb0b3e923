import type { Reply, Use } from '../../src/discord/command.ts';
import { INTERFACES } from '../../src/domain/upstream.ts';
import { sightOf } from '../shared/channels.ts';
import { MAX_ROW_BUTTONS, rows } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { gapsOf, missedButtons, missedLine } from '../shared/missed.ts';
import { eachNetwork, hasSeveral, namedButton } from '../shared/networks.ts';
import { absoluteTime, embedReply, relativeTime } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { completenessLines, pauseLines } from '../shared/state-lines.ts';
import { webhookButtons, withOneFill } from '../shared/webhooks.ts';
import { checkChannels, checkRoles } from './check-channels.ts';
import { checkProject } from './check-project.ts';
import { byNetwork, type Finding, fault, fine, hint, note } from './finding.ts';

const MARKS: Record<Finding['tone'], string> = { fault: '❌', hint: '⏳', fine: '✅', note: '-#' };

export async function check(interaction: Use, context: Context): Promise<Reply> {
  const { t, settings } = context;
  const findings = await findingsOf(context);
  const of = (tone: Finding['tone']) => findings.filter((finding) => finding.tone === tone);
  const faults = of('fault');
  const lines = [...faults, ...of('hint'), ...of('fine'), ...of('note')].map(
    ({ tone, text }) => `${MARKS[tone]} ${text}`,
  );
  const calm = of('hint').length === 0 ? t('setup.check.fine') : t('setup.check.open');
  const title = faults.length === 0 ? calm : t('setup.check.faults', { count: faults.length });
  const networks = await Promise.all(
    eachNetwork(context).map(async (on) => ({ on, scope: (await on.projects.accessOf(interaction.guildId)).scope })),
  );
  const urls = networks.flatMap(({ on, scope }) =>
    scope === null ? [] : namedButton(webhookButtons.receiverUrl(t), on),
  );
  const actions = faults.flatMap(({ action }) => action ?? []);
  const fixes = hasSeveral(settings) ? withOneFill(actions, t) : actions;
  return embedReply(faults.length === 0 ? 'good' : 'warn', title, lines, {
    components: rows(
      ...[0, 1, 2, 3, 4].map((row) => [...fixes, ...urls].slice(row * MAX_ROW_BUTTONS, (row + 1) * MAX_ROW_BUTTONS)),
    ),
  });
}

async function findingsOf(context: Context): Promise<Finding[]> {
  const { guildId, t, metrics } = context;
  const [all, { blocked, waiting, held }] = await Promise.all([
    context.subscriptions.list(guildId),
    metrics.guild(guildId),
  ]);
  const pauses = context.sendingPauses(guildId);
  const isSeen = await sightOf([...all, ...blocked, ...pauses], context);
  const subscriptions = all.filter(isSeen);
  const unseen = all.length - subscriptions.length;
  const isAllHidden = all.length > 0 && subscriptions.length === 0;
  const [ofChannels, ofReceiver, ofProject, gaps] = await Promise.all([
    isAllHidden ? [] : checkChannels(context, subscriptions, blocked.filter(isSeen)),
    checkReceiver(context),
    checkProject(context, subscriptions),
    gapsOf(guildId, context, isSeen),
    ...eachNetwork(context).map(({ interfaces }) => interfaces.check()),
  ]);
  const pause = context.guildPause(guildId);
  const counts = `${t('status.alerts', { count: waiting })}, ${t('status.held', { count: held })}`;
  return [
    ...(pause
      ? [fault(t('setup.check.together', { refusals: pause.refusals, due: relativeTime(pause.probeAt) }))]
      : []),
    ...checkRoles(context, subscriptions),
    ...ofChannels,
    ofReceiver,
    ...ofProject,
    ...byNetwork(eachNetwork(context).map((on) => ({ on, findings: checkInterfaces(on, all.length > 0) }))),
    ...checkCompleteness(context),
    ...gaps.map((gap) => {
      const line = missedLine(t, gap, hasSeveral(context.settings));
      if (gap.cause.kind === 'added') return fine(line);
      // For addresses that no webhook has, the check of the project has the button.
      return fault(line, gap.cause.kind === 'no-webhook' ? [] : missedButtons(context, [gap], false));
    }),
    ...(held > 0 ? [hint(`${t('status.waiting')}: ${counts}`)] : []),
    ...(waiting > held ? pauseLines(pauses.filter(isSeen), t).map(hint) : []),
    ...(unseen > 0 ? [hint(t('setup.check.unseen', { count: unseen }))] : []),
  ];
}

function checkInterfaces({ t, interfaces, explorer }: Context, isWatching: boolean): Finding[] {
  const outages = interfaces.outages();
  const down = INTERFACES.flatMap((name) => {
    const outage = outages.get(name);
    if (!outage) return [];
    const since = t('setup.check.awaySince', { moment: absoluteTime(outage.since), ago: relativeTime(outage.since) });
    const lines = [explain(t, outage.failure, name), `-# ${since} ${t(`setup.check.away.${name}`)}`];
    return fault(lines.join('\n'));
  });
  // Nothing else distinguishes genuine tokens from those that a stranger made.
  return explorer === null && isWatching ? [...down, note(t('setup.check.noExplorer'))] : down;
}

/** How far the chain was compared: what is unchecked is never shown as fine. */
function checkCompleteness({ t, completeness }: Context): Finding[] {
  return completeness().flatMap((state) => {
    const { complete, open } = completenessLines(t, state);
    const mark = open.length === 0 ? fine : hint;
    return [...(complete === null ? [] : [mark(complete)]), ...open.map(hint)];
  });
}

async function checkReceiver({ t, probeReceiver, settings }: Context): Promise<Finding> {
  const url = `\`${settings.publicUrl}\``;
  const found = await probeReceiver();
  if (found.status === 'reachable') return fine(t('setup.check.receiverFine', { url }));
  if (found.status === 'other') return fault(t('setup.check.receiverOther', { url, code: found.code }));
  return fault(t(`setup.check.unreachable.${found.status}`, { url }));
}
