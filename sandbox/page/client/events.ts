/** Each transaction's progress: mined → delivered → stored → routed → posted. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { SECOND } from '../../../src/domain/units.ts';
import type { Delivery, Post, TrackedTransaction } from '../protocol.ts';
import { act, button } from './controls.ts';
import { channelOf, guildOf, isOnline, type Model } from './model.ts';
import { exactTime, later } from './time.ts';

const MAX_SHOWN = 60;
/** After this time without an event, no watched address has moved, or the service has lost the event. */
const UNWATCHED_MS = 3 * SECOND;

type State = 'done' | 'waiting' | 'trouble' | 'none';

interface Step {
  name: string;
  state: State;
  detail: string;
  retryIn?: number;
}

export function eventsView(all: Model, now: number): TemplateResult {
  const { world } = all;
  const transactions = [...all.transactions.values()];
  if (transactions.length === 0)
    return html`<div class="calm">
      <p>Nothing has moved yet.</p>
      <div class="buttons">
        ${button('Send a swap', act({ do: 'swap', from: 'Treasury' }), { kind: 'primary' })}
        ${world.traffic ? nothing : button('Turn on everyday transfers', act({ do: 'traffic', on: true }))}
      </div>
    </div>`;
  return html`${tallyView(transactions, isOnline(all))}
    <ol class="transactions" aria-label="Events, newest first">
      ${repeat(
        transactions.slice(-MAX_SHOWN).reverse(),
        ({ txHash }) => txHash,
        (transaction) => transactionView(transaction, world.explorerUrl, now),
      )}
    </ol>`;
}

function tallyView(transactions: readonly TrackedTransaction[], canDeliver: boolean): TemplateResult {
  const { undelivered, stored, posted, queued } = tally(transactions);
  const waiting = [
    undelivered > 0 ? html` · <span class="busy"><b>${undelivered}</b> waiting for delivery</span>` : nothing,
    queued > 0 ? html` · <span class="busy"><b>${queued}</b> waiting to be posted</span>` : nothing,
  ];
  return html`<p class="tally"><b>${stored}</b> ${plural(stored, 'event')} stored · <b>${posted}</b>
      ${plural(posted, 'transaction')} posted${undelivered + queued > 0 ? waiting : ' · nothing waiting'}</p>
    ${undelivered > 0 ? html`<p class="buttons">${button('Deliver now', act({ do: 'deliver' }), { disabled: !canDeliver })}</p>` : nothing}`;
}

const plural = (count: number, word: string): string => (count === 1 ? word : `${word}s`);

/** `undelivered` and `stored` count events, `posted` and `queued` transactions. */
export function tally(transactions: readonly TrackedTransaction[]) {
  const deliveries = transactions.flatMap((transaction) => transaction.deliveries);
  return {
    undelivered: deliveries.filter(({ storedAt, exhausted }) => storedAt === null && !exhausted).length,
    stored: deliveries.filter(({ storedAt }) => storedAt !== null).length,
    posted: transactions.filter(({ posted }) => posted.length > 0).length,
    queued: transactions.filter(({ posted, routed }) => posted.length === 0 && routed?.isMatched === true).length,
  };
}

function transactionView(transaction: TrackedTransaction, explorerUrl: string, now: number): TemplateResult {
  const url = `${explorerUrl}/tx/${transaction.txHash}`;
  const steps = stepsOf(transaction, now);
  const retryIn = steps.find((step) => step.retryIn !== undefined)?.retryIn;
  return html`<li>
    <p>${transaction.summary ?? 'A transaction that the sandbox did not send'}</p>
    <p class="soft">block ${transaction.blockNumber} ·
      <a href=${url} target="_blank" rel="noopener noreferrer">${transaction.txHash.slice(0, 8)}…${transaction.txHash.slice(-4)}</a></p>
    <ol class="steps">
      ${steps.map(
        ({ name, state, detail }) => html`<li class=${state}>
          <span class="dot" aria-hidden="true"></span><b>${name}</b><span class="hidden">${STATE_WORDS[state]}</span><small>${detail}</small>
        </li>`,
      )}
    </ol>
    ${retryIn === undefined ? nothing : html`<p class="retry">The service retries in ${retryIn} s</p>`}
    ${transaction.posted.length > 0 ? html`<p class="soft">Posted in ${placesOf(transaction)}</p>` : nothing}
    ${remarks(transaction.deliveries, now)}
  </li>`;
}

const STATE_WORDS: Record<State, string> = { done: ' done', waiting: ' waiting', trouble: ' failed', none: ' skipped' };

function stepsOf(transaction: TrackedTransaction, now: number): Step[] {
  const { summary, deliveries, minedAt, routed, posted } = transaction;
  // What the sandbox did not send may be invented.
  const mined: Step = { name: summary === null ? 'Claimed' : 'Mined', state: 'done', detail: exactTime(minedAt) };
  if (deliveries.length === 0) {
    const isUnwatched = now - minedAt > UNWATCHED_MS;
    const state = isUnwatched ? 'none' : 'waiting';
    const rest = ['Stored', 'Routed', 'Posted'].map((name): Step => ({ name, state, detail: '' }));
    return [mined, { name: 'Delivered', state, detail: isUnwatched ? 'no event' : '' }, ...rest];
  }
  const first = Math.min(...posted.map(({ at }) => at));
  return [
    mined,
    deliveredStep(deliveries, now),
    storedStep(deliveries, minedAt),
    routedStep(transaction),
    {
      name: 'Posted',
      state: posted.length > 0 ? 'done' : routed?.isMatched === false ? 'none' : 'waiting',
      detail: posted.length > 0 ? later(first - minedAt) : '',
    },
  ];
}

/** `#alerts and #treasury (Harbor DAO)`. */
function placesOf({ posted }: TrackedTransaction): string {
  const placesByServer = new Map<string, Set<string>>();
  for (const post of posted) {
    const channel = channelOf(post.channelId);
    const server = guildOf(channel?.guildId ?? '')?.name ?? '';
    placesByServer.set(server, (placesByServer.get(server) ?? new Set()).add(placeOf(channel?.name, post)));
  }
  const list = new Intl.ListFormat('en-US');
  return [...placesByServer]
    .map(([server, channels]) => `${list.format(channels)}${server === '' ? '' : ` (${server})`}`)
    .join(', ');
}

function placeOf(name: string | undefined, { alerts }: Post): string {
  const place = name === undefined ? 'a deleted channel' : `#${name}`;
  return alerts === 0 ? `${place} in a digest` : place;
}

function storedStep(deliveries: readonly Delivery[], minedAt: number): Step {
  const times = deliveries.flatMap(({ storedAt }) => (storedAt === null ? [] : [storedAt]));
  const count = deliveries.length > 1 ? `${times.length}/${deliveries.length} ` : '';
  if (times.length < deliveries.length) return { name: 'Stored', state: 'waiting', detail: count };
  return { name: 'Stored', state: 'done', detail: `${count}${later(Math.max(...times) - minedAt)}` };
}

function routedStep({ routed, minedAt, posted }: TrackedTransaction): Step {
  const name = 'Routed';
  if (routed === null) return { name, state: posted.length > 0 ? 'done' : 'waiting', detail: '' };
  if (routed.isMatched) return { name, state: 'done', detail: routed.at === null ? '' : later(routed.at - minedAt) };
  const { hidden } = routed;
  return { name, state: 'done', detail: hidden.length > 0 ? `hidden: ${hidden.join(', ')}` : 'no subscription' };
}

function deliveredStep(deliveries: readonly Delivery[], now: number): Step {
  const name = 'Delivered';
  const failed = deliveries.filter(
    ({ storedAt, attempts }) => storedAt === null && attempts.some(({ answeredAt }) => answeredAt !== null),
  );
  if (failed.some(({ exhausted }) => exhausted)) return { name, state: 'trouble', detail: 'given up' };
  if (failed.length > 0) {
    const next = Math.min(...failed.map(({ next }) => next?.at ?? now));
    return { name, state: 'trouble', detail: responseOf(failed[0]!), retryIn: secondsUntil(next, now) };
  }
  if (deliveries.every(({ storedAt }) => storedAt !== null)) {
    const tries = Math.max(...deliveries.map(({ attempts }) => attempts.findIndex(({ status }) => status === 200) + 1));
    return { name, state: 'done', detail: tries > 1 ? `200, try ${tries}` : '200' };
  }
  return { name, state: 'waiting', detail: '' };
}

const secondsUntil = (at: number, now: number): number => Math.max(0, Math.ceil((at - now) / SECOND));

function responseOf({ attempts }: Delivery): string {
  const last = attempts.findLast(({ answeredAt }) => answeredAt !== null);
  return last?.status ? String(last.status) : 'no response';
}

/** Repetitions by the service. The bot must not post them again. */
function remarks(deliveries: readonly Delivery[], now: number): TemplateResult | typeof nothing {
  const repeats = deliveries.map(({ attempts }) => attempts.filter(({ status }) => status === 200).length - 1);
  const sent = repeats.reduce((sum, count) => sum + Math.max(0, count), 0);
  const next = deliveries.flatMap(({ next }) => (next?.reason === 'repeat' ? [next.at] : []));
  if (sent === 0 && next.length === 0) return nothing;
  const coming = next.length > 0 ? `, again in ${secondsUntil(Math.min(...next), now)} s` : '';
  return html`<p class="soft">${sent > 0 ? `Repeated ${sent}× by the service` : 'Will be repeated by the service'}${coming}</p>`;
}
