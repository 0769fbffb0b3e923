/** The way of each event, drawn live: mined → delivered → stored → routed → sent. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Delivery, Journey } from '../protocol.ts';
import { channelOf, known } from './model.ts';
import { exactTime, later } from './time.ts';

const SHOWN = 60;
/** After this long without an event, nobody watches what moved. */
const UNWATCHED_MS = 3_000;

interface Step {
  name: string;
  state: 'done' | 'waiting' | 'trouble' | 'none';
  detail: string;
}

/** The list, newest first. */
export function journeysView(now: number): TemplateResult {
  const journeys = [...(known?.journeys.values() ?? [])].slice(-SHOWN).reverse();
  if (journeys.length === 0) return html`<p class="soft">Nothing was mined yet.</p>`;
  return html`<ol class="journeys" aria-label="Events, newest first">
    ${repeat(
      journeys,
      ({ txHash }) => txHash,
      (journey) => journeyView(journey, now),
    )}
  </ol>`;
}

/** How many events of the last 300 transactions are where. */
export function tally(): { waiting: number; stored: number; told: number } {
  const journeys = [...(known?.journeys.values() ?? [])];
  const deliveries = journeys.flatMap((journey) => journey.deliveries);
  return {
    waiting: deliveries.filter(({ storedAt, exhausted }) => storedAt === null && !exhausted).length,
    stored: deliveries.filter(({ storedAt }) => storedAt !== null).length,
    told: journeys.filter(({ told }) => told.length > 0).length,
  };
}

function journeyView(journey: Journey, now: number): TemplateResult {
  const url = `${known?.world.explorerUrl}/tx/${journey.txHash}`;
  return html`<li>
    <p>${journey.summary ?? 'A transaction of somebody else'}</p>
    <p class="soft">block ${journey.blockNumber} ·
      <a href=${url} target="_blank" rel="noopener noreferrer">${journey.txHash.slice(0, 8)}…${journey.txHash.slice(-4)}</a></p>
    <ol class="steps">
      ${stepsOf(journey, now).map(
        ({ name, state, detail }) => html`<li class=${state}>
          <span class="dot" aria-hidden="true"></span><b>${name}</b><span class="hidden">${words[state]}</span><small>${detail}</small>
        </li>`,
      )}
    </ol>
    ${remarks(journey.deliveries, now)}
  </li>`;
}

const words = { done: ' done', waiting: ' waiting', trouble: ' in trouble', none: ' not' };

/** The five steps as they stand. */
function stepsOf(journey: Journey, now: number): Step[] {
  const { deliveries, minedAt, routed, told } = journey;
  const since = (at: number): string => later(at - minedAt);
  const mined: Step = { name: 'Mined', state: 'done', detail: exactTime(minedAt) };
  if (deliveries.length === 0) {
    const unwatched = now - minedAt > UNWATCHED_MS;
    const state = unwatched ? 'none' : 'waiting';
    const rest = ['Delivered', 'Stored', 'Routed', 'Sent'].map((name): Step => ({ name, state, detail: '' }));
    rest[0]!.detail = unwatched ? 'no watched address' : '';
    return [mined, ...rest];
  }
  const stored = deliveries.filter(({ storedAt }) => storedAt !== null);
  const all = stored.length === deliveries.length;
  const count = deliveries.length > 1 ? `${stored.length}/${deliveries.length} ` : '';
  const storedAt = Math.max(...stored.map((delivery) => delivery.storedAt!));
  const channels = told.map(
    ({ channelId, lines, at }) => `${nameOf(channelId)}${lines === 0 ? ', a digest' : ''} ${since(at)}`,
  );
  return [
    mined,
    deliveredStep(deliveries, now),
    { name: 'Stored', state: all ? 'done' : 'waiting', detail: all ? `${count}${since(storedAt)}` : count },
    routedStep(journey),
    {
      name: 'Sent',
      state: told.length > 0 ? 'done' : routed?.lines === false ? 'none' : 'waiting',
      detail: [...new Set(channels)].join(' '),
    },
  ];
}

function nameOf(channelId: string): string {
  const channel = channelOf(channelId);
  return channel ? `#${channel.name}` : 'a deleted channel';
}

/** The bot's own words for what hid a transfer, as `/why` explains them. */
const HIDDEN: Record<string, string> = {
  zero: 'moves nothing',
  guard: 'spam',
  self: 'to itself',
  paused: 'paused',
  muted: 'muted',
  'token-muted': 'token muted',
};

function routedStep({ routed, minedAt, told }: Journey): Step {
  const name = 'Routed';
  if (routed === null) return { name, state: told.length > 0 ? 'done' : 'waiting', detail: '' };
  const at = routed.at === null ? '' : later(routed.at - minedAt);
  const reasons = routed.hidden.map((reason) => HIDDEN[reason] ?? 'filtered');
  if (routed.lines) return { name, state: 'done', detail: at };
  return { name, state: 'done', detail: reasons.length > 0 ? `hidden: ${reasons.join(', ')}` : 'nobody subscribed' };
}

function deliveredStep(deliveries: readonly Delivery[], now: number): Step {
  const name = 'Delivered';
  const failed = deliveries.filter(
    ({ storedAt, attempts }) => storedAt === null && attempts.some(({ answeredAt }) => answeredAt !== null),
  );
  const exhausted = failed.find((delivery) => delivery.exhausted);
  if (exhausted) return { name, state: 'trouble', detail: 'given up' };
  if (failed.length > 0) {
    const next = Math.min(...failed.map(({ next }) => next?.at ?? now));
    return {
      name,
      state: 'trouble',
      detail: `${answerOf(failed[0]!)}, again in ${Math.max(0, Math.ceil((next - now) / 1000))} s`,
    };
  }
  if (deliveries.every(({ storedAt }) => storedAt !== null)) {
    const tries = Math.max(...deliveries.map(({ attempts }) => attempts.findIndex(({ status }) => status === 200) + 1));
    return { name, state: 'done', detail: tries > 1 ? `200, try ${tries}` : '200' };
  }
  return { name, state: 'waiting', detail: '' };
}

function answerOf({ attempts }: Delivery): string {
  const last = attempts.findLast(({ answeredAt }) => answeredAt !== null);
  return last?.status ? String(last.status) : 'no answer';
}

/** Repetitions, which the bot must not tell again. */
function remarks(deliveries: readonly Delivery[], now: number): TemplateResult | typeof nothing {
  const sent = deliveries.reduce(
    (sum, { attempts }) => sum + Math.max(0, attempts.filter(({ status }) => status === 200).length - 1),
    0,
  );
  const next = deliveries.flatMap(({ next }) => (next?.reason === 'repeat' ? [next.at] : []));
  if (sent === 0 && next.length === 0) return nothing;
  const coming = next.length > 0 ? `, again in ${Math.max(0, Math.ceil((Math.min(...next) - now) / 1000))} s` : '';
  return html`<p class="soft">${sent > 0 ? `repeated ${sent}× by the service` : 'will be repeated by the service'}${coming}</p>`;
}
