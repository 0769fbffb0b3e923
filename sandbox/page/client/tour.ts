import { html, nothing, type TemplateResult } from 'lit-html';
import type { TrackedTransaction } from '../protocol.ts';
import { icon } from './avatar.ts';
import { act, button } from './controls.ts';
import { tally } from './events.ts';
import { isOnline, type Model, model } from './model.ts';
import { draw, type Tab } from './screen.ts';
import { keep } from './session.ts';

const DISMISSED_KEY = 'ledgerbell-tour-dismissed';
const BURST = 20;
const STEPS = 4;

/**
 * `after`: the newest transaction at the tour's start. `downSince`: when the bot was killed, by the server's clock, or
 * 0. `starts`: the bot's starts by then.
 */
const START = { step: 1, after: '', downSince: 0, starts: 0 };
let tour = { ...START };
let isDismissed = localStorage.getItem(DISMISSED_KEY) === 'yes';
keep(
  'tour',
  () => tour,
  (kept) => {
    tour = kept;
  },
);

export function tourView(open: (tab: Tab) => void): TemplateResult | typeof nothing {
  if (!model || isDismissed) return nothing;
  advance(model);
  const { title, text, actions } = stepView(model, open);
  return html`<section class="tour" aria-label="Tour, step ${tour.step} of ${STEPS}">
    <p class="progress" aria-hidden="true">${Array.from({ length: STEPS }, (_, n) => html`<i class=${n < tour.step ? 'done' : ''}></i>`)}</p>
    <h2><span class="count">${tour.step}/${STEPS}</span> ${title}</h2>
    <p aria-live="polite">${text}</p>
    <div class="buttons">
      ${actions}
      ${tour.step < STEPS ? html`<button type="button" class="skip-step" @click=${next}>Skip step</button>` : nothing}
    </div>
    <button type="button" class="icon" aria-label="Close the tour" title="Close the tour" @click=${dismiss}>${icon('close')}</button>
  </section>`;
}

export const isTouring = (): boolean => !isDismissed;

export function restartTour(): void {
  tour = { ...START, after: newestOf(model) };
  isDismissed = false;
  localStorage.removeItem(DISMISSED_KEY);
  draw();
}

const newestOf = (all: Model | undefined): string => [...(all?.transactions.keys() ?? [])].at(-1) ?? '';

function dismiss(): void {
  isDismissed = true;
  localStorage.setItem(DISMISSED_KEY, 'yes');
  draw();
}

function next(): void {
  tour.step++;
  draw();
}

function advance(all: Model): void {
  const { bot } = all.world;
  const isNewSandbox = all.transactions.size === 0 && tour.step === 2;
  if (isNewSandbox) tour = { ...START };
  if (tour.step === 1 && newestOf(all) !== tour.after) tour.step = 2;
  if (bot.state === 'stopped' && tour.downSince === 0 && tour.step === 3) {
    tour.downSince = bot.since;
    tour.starts = bot.starts;
  }
  if (tour.step === 3 && tour.downSince > 0 && bot.starts > tour.starts) tour.step = 4;
}

function stepView(all: Model, open: (tab: Tab) => void) {
  switch (tour.step) {
    case 1:
      return {
        title: 'Send a swap',
        text: 'Nothing moves on the local chain yet. Let Treasury, a wallet that the bot watches, swap 150 HUSD for BELL.',
        actions: button('Send a swap', act({ do: 'swap', from: 'Treasury' }), { kind: 'primary' }),
      };
    case 2:
      return seeStep(all, open);
    case 3:
      return crashStep(all);
    default:
      return nothingLostStep(all, open);
  }
}

function seeStep({ transactions }: Model, open: (tab: Tab) => void) {
  const isPosted = [...transactions.values()].some(({ posted }) => posted.length > 0);
  return {
    title: 'See it arrive',
    text: isPosted
      ? 'The alert is above, in #alerts. The Events tab shows its path: mined, delivered, stored on the bot’s disk, routed, posted.'
      : 'The chain has mined it. The alert appears in #alerts in a moment.',
    actions: html`${button('Next', next, { kind: 'primary', disabled: !isPosted })}${button('Show events', () => open('events'))}`,
  };
}

function crashStep({ world, transactions }: Model) {
  const isDown = world.bot.state === 'stopped';
  const sent = sinceCrash(transactions.values()).length;
  const text = !isDown
    ? 'Kill the bot without warning, as a power cut would.'
    : sent === 0
      ? `The bot is down. Send ${BURST} transfers that it cannot see.`
      : `${sent} transfers were mined while the bot was down. Start it again.`;
  return {
    title: 'Kill the bot, send a burst, start it',
    text,
    actions: html`
      ${button('Kill the bot', act({ do: 'bot', what: 'kill' }), {
        kind: isDown ? 'secondary' : 'danger',
        disabled: isDown,
      })}
      ${button(`Send ${BURST} transfers`, act({ do: 'burst', count: BURST }), {
        kind: isDown && sent === 0 ? 'primary' : 'secondary',
        disabled: !isDown,
      })}
      ${button('Start the bot', act({ do: 'bot', what: 'start' }), {
        kind: isDown && sent > 0 ? 'success' : 'secondary',
        disabled: !isDown,
      })}`,
  };
}

function nothingLostStep(all: Model, open: (tab: Tab) => void) {
  const sent = sinceCrash(all.transactions.values());
  const { undelivered, posted } = tally(sent);
  const isComplete = sent.length > 0 && sent.every(isPostedOnce);
  const text = isComplete
    ? `All ${sent.length} transfers are posted, each once. Nothing was lost.`
    : undelivered > 0
      ? `${posted} of ${sent.length} transfers are posted. The service retries after 15 s, then 1 min; Deliver now skips the wait.`
      : sent.length > 0
        ? `${posted} of ${sent.length} transfers are posted.`
        : 'Events wait at the service while the bot is down, and on its disk while Discord is.';
  return {
    title: isComplete ? 'Nothing lost' : 'Watch them arrive',
    text,
    actions: html`${undelivered > 0 ? button('Deliver now', act({ do: 'deliver' }), { kind: 'primary', disabled: !isOnline(all) }) : nothing}
      ${button('Finish', dismiss, { kind: undelivered > 0 ? 'secondary' : 'primary' })}
      ${button('See what else can break', () => open('break'))}`,
  };
}

const isPostedOnce = ({ posted }: TrackedTransaction): boolean =>
  posted.length > 0 && new Set(posted.map(({ channelId }) => channelId)).size === posted.length;

const sinceCrash = (transactions: Iterable<TrackedTransaction>): TrackedTransaction[] =>
  [...transactions].filter(({ minedAt }) => tour.downSince > 0 && minedAt >= tour.downSince);
