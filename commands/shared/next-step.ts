import type { APIButtonComponent, APIEmbedField } from 'discord.js';
import { namesOfFile } from '../../src/config/networks.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { addressesOf, type Subscription } from '../../src/domain/subscription.ts';
import { inCode } from '../../src/domain/text.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Webhook } from '../../src/upstream/notification.ts';
import { MAX_ROW_BUTTONS } from './components.ts';
import { eachNetwork, hasSeveral, namedButton, watchedHere } from './networks.ts';
import { asManyAsFit } from './reply.ts';
import type { Context } from './services.ts';
import {
  EVERY_TYPE,
  fillWebhook,
  postingHere,
  type ReadyProject,
  SOON_MS,
  targetOf,
  webhookButtons,
  withAddresses,
  withOneFill,
} from './webhooks.ts';

/** One more button fits beside these. */
const MAX_BUTTONS = MAX_ROW_BUTTONS - 1;

interface NextStep {
  isDone: boolean;
  field: APIEmbedField;
  buttons: APIButtonComponent[];
}

interface NetworkStep extends NextStep {
  lacking: ReadonlySet<AddressText>;
  /** The webhooks that post here, and what they may lack; null: they cannot be filled, or have everything. */
  fill: { project: ReadyProject; here: Webhook[]; missing: AddressText[] } | null;
}

/** The part of a button's custom ID that stands for what it adds. */
type What = (lacking: ReadonlySet<AddressText>) => string;

type Watched = readonly Pick<Subscription, 'address' | 'network'>[];

/**
 * `what` stands for what is watched in a button, see `webhook:fill`. `fills`: first adds what a webhook lacks, where it
 * is clear which one gets it.
 */
export async function nextStep(watched: Watched, what: string, context: Context, fills = false): Promise<NextStep> {
  const { t } = context;
  const steps = await onEach(watched, context, async (addresses, on): Promise<NextStep> => {
    const step = await stepOn(addresses, () => what, on);
    return fills ? filled(step, what, on) : step;
  });
  if (!hasSeveral(context.settings) && steps[0]) return steps[0];
  const titles = (those: typeof steps, mark: string) =>
    those.map(({ on }) => `${mark} ${on.network.title}`).join(' · ');
  const done = steps.filter(({ isDone }) => isDone);
  const open = Map.groupBy(
    steps.filter(({ isDone }) => !isDone),
    ({ field }) => field.value,
  );
  const lines = [
    ...(done.length > 0 ? [titles(done, '✅')] : []),
    ...[...open].map(([value, those]) => `${titles(those, '⚠️')}: ${namesOfFile(value)}`),
  ];
  const isDone = open.size === 0;
  const name = t(isDone ? 'webhook.add.willCome' : 'subscription.add.next');
  return { isDone, field: { name, value: asManyAsFit(lines) }, buttons: buttonsOf(steps, what, t) };
}

async function filled(step: NetworkStep, what: string, context: Context): Promise<NextStep> {
  const { guildId, t, network, storedProjects } = context;
  if (step.fill === null) return step;
  const { project, here, missing } = step.fill;
  const target = targetOf(here, await storedProjects.chosenWebhook(guildId, network.id));
  if (typeof target !== 'string' || target === 'unknown') return step;
  const { isDone, lines } = await fillWebhook(project, target, missing, context);
  const name = isDone ? t('webhook.add.willCome') : `⚠️ ${t('webhook.add.failed')}`;
  const buttons = isDone ? [] : [webhookButtons.add(t, missing.length, what)];
  return { isDone, field: { name, value: lines.join('\n') }, buttons };
}

function onEach<Step extends NextStep>(
  watched: Watched,
  context: Context,
  stepWith: (addresses: AddressText[], on: Context) => Promise<Step>,
): Promise<(Step & { on: Context })[]> {
  const steps = eachNetwork(context).flatMap((on) => {
    const addresses = addressesOf(watchedHere(watched, on));
    return addresses.length === 0 ? [] : stepWith(addresses, on).then((step) => ({ ...step, on }));
  });
  return Promise.all(steps);
}

function buttonsOf(
  steps: readonly { on: Context; buttons: APIButtonComponent[] }[],
  what: string,
  t: Translate,
): APIButtonComponent[] {
  const all = steps.flatMap(({ on, buttons }) => buttons.flatMap((button) => namedButton(button, on)));
  return withOneFill(all, t, what).slice(0, MAX_BUTTONS);
}

interface Warning {
  lines: string[];
  buttons: APIButtonComponent[];
  missing: ReadonlySet<AddressText>;
  /** The networks whose webhooks lack an address, where there are several. */
  on(address: AddressText): string[];
}

/** null: no address is known to lack a webhook. */
export async function coverageWarning(watched: Watched, what: What, context: Context): Promise<Warning | null> {
  const steps = await onEach(watched, context, (addresses, on) => stepOn(addresses, what, on));
  const open = steps.filter(({ lacking }) => lacking.size > 0);
  if (open.length === 0) return null;
  const named = hasSeveral(context.settings) ? open : [];
  const missing = new Set(open.flatMap(({ lacking }) => [...lacking]));
  return {
    lines: open.map((step) => `${named.includes(step) ? `**${step.on.network.title}** ` : ''}⚠️ ${step.field.value}`),
    buttons: buttonsOf(open, what(missing), context.t),
    missing,
    on: (address) => named.flatMap(({ on, lacking }) => (lacking.has(address) ? on.network.title : [])),
  };
}

async function stepOn(addresses: readonly AddressText[], what: What, context: Context): Promise<NetworkStep> {
  const { guildId, t, projects, receiver } = context;
  const step = (value: string, ...buttons: APIButtonComponent[]): NetworkStep => ({
    isDone: false,
    field: { name: t('subscription.add.next'), value },
    buttons,
    lacking: new Set(),
    fill: null,
  });
  const project = await projects.accessOf(guildId);
  if (project.scope === null) return step(t('subscription.add.operatorWebhook'));
  if (receiver.urls(project.scope).current === null) return step(t('setup.project.noUrl'));
  const byHand = t('subscription.add.ownWebhook');
  if (project.status !== 'ready') return step(byHand);
  const adding = (lacking: readonly AddressText[]) => webhookButtons.add(t, lacking.length, what(new Set(lacking)));
  const response = await postingHere(project, { receiver }, SOON_MS);
  if (response.status !== 'ok') return step(byHand, adding(addresses));
  const here = response.webhooks;
  if (here.length === 0) {
    return { ...step(t('webhook.create.needed'), webhookButtons.create(t)), lacking: new Set(addresses) };
  }
  const posting = await withAddresses(project, here);
  const holding = (address: AddressText) => posting.filter((webhook) => webhook.addresses?.has(address));
  const missing = addresses.filter((address) => holding(address).length === 0);
  if (missing.length > 0) {
    const fill = { project, here, missing };
    // If one list is missing, an address may be in that one.
    if (posting.some((webhook) => webhook.addresses === null)) return { ...step(byHand, adding(addresses)), fill };
    const lacks = t('webhook.add.missing', { count: missing.length });
    return { ...step(lacks, adding(missing)), lacking: new Set(missing), fill };
  }
  const types = new Set(addresses.flatMap(holding).map(({ eventType }) => eventType));
  const only = [...types].map((type) => inCode(type, '?')).join(t('reply.comma'));
  const lines = [
    t('webhook.add.covered', { count: addresses.length }),
    ...(types.has(EVERY_TYPE) ? [] : [t('webhook.add.onlyTypes', { types: only })]),
  ];
  const field = { name: t('webhook.add.willCome'), value: lines.join('\n') };
  return { isDone: true, field, buttons: [], lacking: new Set(), fill: null };
}
