import type { APIButtonComponent } from 'discord.js';
import type { AddressText } from '../../src/domain/address.ts';
import { OTHER_CHAIN, operatorScope } from '../../src/domain/inbox.ts';
import { chainTitle } from '../../src/domain/network.ts';
import { addressesOf, type Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import type { ProjectAccess } from '../../src/upstream/projects.ts';
import { explain } from '../shared/failure.ts';
import { namedAddress } from '../shared/names.ts';
import { eachNetwork, watchedHere } from '../shared/networks.ts';
import { firstOf, MAX_ID, relativeTime } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { quotaLine, refusedFor, usageLine } from '../shared/state-lines.ts';
import {
  EVERY_TYPE,
  pointsAt,
  postingHere,
  type ReadyProject,
  webhookButtons,
  withAddresses,
} from '../shared/webhooks.ts';
import { byNetwork, type Finding, fault, fine, hint } from './finding.ts';

const REQUEST_TIMEOUT_MS = 8_000;

export async function checkProject(context: Context, subscriptions: readonly Subscription[]): Promise<Finding[]> {
  const checked = await Promise.all(
    eachNetwork(context).map(async (on) => ({
      on,
      ...(await checkNetwork(on, watchedHere(subscriptions, on))),
    })),
  );
  const lacking = checked.every(({ lacking }) => lacking === null)
    ? null
    : checked.flatMap(({ lacking }) => lacking ?? []);
  return [...byNetwork(checked), ...checkEvents(context, subscriptions, lacking)];
}

interface Checked {
  findings: Finding[];
  /** null: it is not known which addresses the webhooks lack. */
  lacking: AddressText[] | null;
}

async function checkNetwork(context: Context, subscriptions: readonly Subscription[]): Promise<Checked> {
  const { guildId, t, projects, storedProjects } = context;
  const access = await projects.accessOf(guildId);
  const findings = [
    ...refused(context, access),
    ...quota(context, access),
    ...signatures(context, access),
    ...(await misdirected(context, access)),
  ];
  const known = (...more: Finding[]): Checked => ({ findings: [...findings, ...more], lacking: null });
  if (access.scope === null) return known(...(access.status === 'none' ? [fine(t('setup.check.projectNone'))] : []));
  if (access.status === 'off') return known(hint(t('setup.check.projectOff')));
  if (access.status === 'sealed') return known(fault(t('webhook.sealed')));
  const response = await postingHere(access, context, REQUEST_TIMEOUT_MS);
  if (response.status !== 'ok') {
    // An outage of the service has its own finding.
    const isAway = context.interfaces.outages().has('notification');
    return known(...(isAway ? [] : [fault(explain(t, response, 'notification'))]));
  }
  const here = response.webhooks;
  if (here.length === 0) {
    const none = fault(t('setup.check.webhooksNone'), webhookButtons.create(t));
    // Without a webhook, every address lacks one: no other hint is due.
    return { findings: [...findings, none], lacking: addressesOf(subscriptions) };
  }
  const urls = context.receiver.urls(access.scope);
  const names = await storedProjects.webhookNames(guildId, context.network.id);
  const shown = firstOf(t, here, 5, ({ id }) =>
    id === null ? t('setup.check.unnamedWebhook') : inCode(names.get(id) ?? id, id, MAX_ID),
  );
  const addresses = await checkAddresses(context, access, here, subscriptions);
  return {
    findings: [
      ...findings,
      fine(t('setup.check.webhooksFine', { count: here.length, names: shown.join(t('reply.comma')) })),
      ...(here.some(({ url }) => pointsAt(urls, url) === 'retiring') ? [fault(t('setup.check.webhookOld'))] : []),
      ...(addresses?.findings ?? []),
    ],
    lacking: addresses?.lacking ?? null,
  };
}

async function misdirected({ t, quarantine }: Context, { scope }: ProjectAccess): Promise<Finding[]> {
  if (scope === null) return [];
  const reasons = await quarantine.reasons(scope, OTHER_CHAIN);
  const [last] = reasons;
  if (!last) return [];
  const count = reasons.reduce((sum, reason) => sum + reason.count, 0);
  const chain = Number(/\d+/.exec(last.reason)?.[0]);
  return [fault(t('setup.check.otherChain', { count, network: chainTitle(chain) }))];
}

function quota(context: Context, { own, scope }: ProjectAccess): Finding[] {
  if (!own || scope === null) return [];
  const refused = quotaLine(scope, context);
  return [
    ...(refused ? [fault(refused)] : []),
    fine(context.t('setup.check.quotaFine', { usage: usageLine(scope, context) })),
  ];
}

function refused(context: Context, access: ProjectAccess): Finding[] {
  const { t } = context;
  const last = refusedFor(access, context);
  if (!last) return [];
  const values = { ago: relativeTime(last.at), source: inCode(last.source, '?') };
  const unlisted = access.own ? 'own' : 'operator';
  return [fault(t(`setup.check.refused.${last.reason === 'unlisted' ? unlisted : last.reason}`, values))];
}

function signatures({ t, network, projects, lastBadSignature }: Context, { own, scope }: ProjectAccess): Finding[] {
  // If no guild manages the operator's project, its URL concerns every guild.
  const about = scope ?? (projects.hasOperators ? null : operatorScope(network.id));
  if (about === null) return [];
  const last = lastBadSignature(about);
  if (!last) return projects.isSigned(about) ? [fine(t('setup.check.signed'))] : [];
  const where = own ? '`/setup project`' : '`NOTIFICATION_SIGNING_SECRET`';
  const line = t(`setup.check.signature.${last.fault}`, { ago: relativeTime(last.at), where });
  return [fault(`${line}\n${t('setup.check.signatureCount', { count: last.count })}`)];
}

/** Whether the webhooks that post here have every watched address, each once; null: the service does not show it. */
async function checkAddresses(
  context: Context,
  project: ReadyProject,
  webhooks: readonly Webhook[],
  subscriptions: readonly Subscription[],
): Promise<{ findings: Finding[]; lacking: AddressText[] } | null> {
  const { t } = context;
  const posting = await withAddresses(project, webhooks, (id) =>
    project.notification.addresses(id, REQUEST_TIMEOUT_MS),
  );
  if (posting.some(({ addresses }) => addresses === null)) return null;
  const typesOf = (address: AddressText) =>
    posting.flatMap(({ eventType, addresses }) => (addresses!.has(address) ? eventType : []));
  const listed = (key: 'addressesLack' | 'addressesTwice', addresses: AddressText[], action?: APIButtonComponent) => {
    const shown = linesOf(addresses, subscriptions, context);
    return fault([t(`setup.check.${key}`, { count: addresses.length }), ...shown].join('\n'), action);
  };
  const watched = addressesOf(subscriptions);
  const lacking = watched.filter((address) => typesOf(address).length === 0);
  const twice = watched.filter((address) => overlap(typesOf(address)));
  const findings = [
    lacking.length === 0
      ? fine(t('setup.check.addressesFine'))
      : listed('addressesLack', lacking, webhookButtons.add(t, lacking.length)),
    ...(twice.length === 0 ? [] : [listed('addressesTwice', twice)]),
  ];
  return { findings, lacking };
}

function linesOf(addresses: AddressText[], watched: readonly Subscription[], { t, settings }: Context): string[] {
  const names = new Map(watched.map(({ address, label }) => [address, label]));
  return firstOf(t, addresses, 5, (address) => namedAddress(names.get(address), address, settings));
}

/** Whether two of these event types deliver the same transfer, which would look like two equal ones. */
function overlap(types: readonly string[]): boolean {
  return types.length > 1 && (types.includes(EVERY_TYPE) || new Set(types).size < types.length);
}

/** Addresses without events are a hint, as that is often normal; `lacking` ones have a fault. null: unknown which. */
function checkEvents(
  context: Context,
  subscriptions: readonly Subscription[],
  lacking: readonly AddressText[] | null,
): Finding[] {
  if (subscriptions.length === 0) return [];
  const { t } = context;
  const moved = new Set(addressesOf(subscriptions.filter(({ lastEventAt }) => lastEventAt !== null)));
  // Another channel may have watched it for longer and got events.
  const silent = addressesOf(subscriptions).filter((address) => !moved.has(address));
  const last = Math.max(...subscriptions.map(({ lastEventAt }) => lastEventAt ?? 0));
  const waiting = silent.filter((address) => !lacking?.includes(address));
  const shown = linesOf(waiting, subscriptions, context);
  const words = t(lacking ? 'setup.check.noEventYet' : 'setup.check.noEvent', { count: waiting.length });
  return [
    ...(waiting.length > 0 ? [hint([words, ...shown].join('\n'))] : []),
    ...(last > 0 ? [fine(t('setup.check.lastEvent', { ago: relativeTime(last) }))] : []),
  ];
}
