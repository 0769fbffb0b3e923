import type { CommandContext, CommandUse, Reply } from '../../src/discord/command.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import { missingIn } from '../parts/channel.ts';
import { explain } from '../parts/failure.ts';
import { pointsAt } from '../parts/project.ts';
import { ago, count, fullAddress, note } from '../parts/reply.ts';

/** One thing that was tested: right, or what to do. */
interface Finding {
  ok: boolean;
  text: string;
}

const good = (text: string): Finding => ({ ok: true, text });
const bad = (text: string): Finding => ({ ok: false, text });
const LOOK_MS = 8_000;

/** `/setup check`: everything that an admin could have wrong, each with its fix. */
export async function check(interaction: CommandUse, context: CommandContext): Promise<Reply> {
  const { guildId } = interaction;
  const subscriptions = await context.store.subscriptions.list(guildId);
  const findings = [
    ...channels(interaction, subscriptions, context),
    ...(await stopped(guildId, context)),
    await receiver(context),
    ...(await project(guildId, context)),
    ...events(subscriptions, context),
  ];
  const wrong = findings.filter(({ ok }) => !ok).length;
  const lines = findings.map(({ ok, text }) => `${ok ? '✅' : '❌'} ${text}`);
  const title = wrong === 0 ? 'Everything looks right' : `${count(wrong, 'thing')} to mend`;
  return note(wrong === 0 ? 'good' : 'warn', title, lines);
}

function channels(interaction: CommandUse, subscriptions: Subscription[], { t }: CommandContext): Finding[] {
  const ids = [...new Set(subscriptions.map(({ channelId }) => channelId))];
  if (ids.length === 0) return [bad('Nothing is watched yet: start with `/subscription add`.')];
  const broken = ids.flatMap((id) => {
    if (interaction.guild && !interaction.guild.channels.cache.has(id)) {
      return [bad(`<#${id}> is gone or hidden from me: choose another channel with \`/subscription edit\`.`)];
    }
    const missing = missingIn(interaction.guild, id, null, t);
    if (missing.length === 0) return [];
    return [
      bad(`<#${id}>: I am missing **${missing.join('**, **')}**. Allow it in the channel’s settings → Permissions.`),
    ];
  });
  return broken.length > 0 ? broken : [good(`I can post in ${count(ids.length, 'subscribed channel')}.`)];
}

async function stopped(guildId: string, { store }: CommandContext): Promise<Finding[]> {
  const overview = await store.servers.overview(guildId);
  return overview.stopped.map(({ channelId, state }) =>
    bad(
      `<#${channelId}> is ${state}: Discord refused a message there. Its alerts wait; allow me to post, or move them.`,
    ),
  );
}

async function receiver({ probeReceiver, settings }: CommandContext): Promise<Finding> {
  switch (await probeReceiver()) {
    case 'reachable':
      return good(`The receiver answers at \`${settings.publicUrl}\`.`);
    case 'other':
      return bad(
        `Something else answers at \`${settings.publicUrl}\`. The person who runs this bot has to check \`PUBLIC_URL\` ` +
          'and the proxy behind it.',
      );
    case 'unreachable':
      return bad(
        `The receiver does not answer at \`${settings.publicUrl}\`. The person who runs this bot has to check ` +
          '`PUBLIC_URL`, the proxy and the firewall.',
      );
  }
}

/** What concerns the project that this server manages, if it manages one. */
async function project(guildId: string, { t, projects, receiver, lastRefused }: CommandContext): Promise<Finding[]> {
  const access = await projects.of(guildId);
  if (access.scope === null) return [];
  const findings = refused(lastRefused(access.own ? access.scope : 'any'));
  if (access.status === 'off') {
    return [...findings, good('Webhooks are not managed from here (`NOTIFICATION_URL` is not set).')];
  }
  if (access.status !== 'ready') return [...findings, bad(t('webhook.sealed'))];
  const answer = await access.notification.webhooks(LOOK_MS);
  if (answer.status !== 'ok') return [...findings, bad(explain(t, answer, 'notification'))];
  const urls = receiver.urls(access.scope);
  const here = answer.webhooks.filter(({ url }) => pointsAt(urls, url) !== null).length;
  return [
    ...findings,
    here > 0
      ? good(`The project’s keys work, and ${count(here, 'webhook')} of it posts here.`)
      : bad(`The project’s keys work, but none of its webhooks posts to \`${urls.current}\`.`),
  ];
}

function refused(last: ReturnType<CommandContext['lastRefused']>): Finding[] {
  if (!last) return [];
  return [
    bad(
      `A delivery from ${inCode(last.source, 'an unknown address')} was refused ${ago(last.at)}: it is not in ` +
        '`RECEIVER_SOURCES`. If it is the service’s, add it while the service still tries again.',
    ),
  ];
}

function events(subscriptions: Subscription[], { settings }: CommandContext): Finding[] {
  const silent = subscriptions.filter(({ lastEventAt }) => lastEventAt === null);
  if (subscriptions.length === 0) return [];
  if (silent.length === 0) return [good('Every watched address had an event.')];
  const addresses = [...new Set(silent.map(({ address }) => address))];
  const shown = addresses.slice(0, 5).map((address) => fullAddress(address, settings));
  const more = addresses.length > shown.length ? `\n…and ${addresses.length - shown.length} more` : '';
  return [
    bad(
      `No event yet for ${count(silent.length, 'subscription')}. If one is due, the address may be missing in the ` +
        `webhook’s scope:\n${shown.join('\n')}${more}`,
    ),
  ];
}
