import { render, type TemplateResult } from 'lit-html';
import { SECOND } from '../../../src/domain/units.ts';
import type { InteractionState } from '../../discord/control.ts';
import type { PageEvent } from '../protocol.ts';
import { applyEvent, channelsFor, guildOf, localeOf, memberOf, model, newestIn, setConnected } from './model.ts';
import { keep, restoreSession, saveSession } from './session.ts';
import { setTimeLocale } from './time.ts';

export type Tab = 'events' | 'send' | 'watch' | 'break';
type Drawer = 'none' | 'channels' | 'world';
export type Theme = 'system' | 'dark' | 'light';

export const ui = {
  guildId: '',
  userId: '',
  /** Last looked at, by server. */
  channels: new Map<string, string>(),
  /** The newest message seen, by channel. */
  read: new Map<string, string>(),
  drawer: 'none' as Drawer,
  worldOpen: true,
  theme: 'system' as Theme,
  tab: 'events' as Tab,
  /** 0 is the first. */
  network: 0,
  peopleOpen: false,
  /** The newest messages are on the screen, and stay there as more arrive. */
  following: true,
  /** The message to bring into view: an action of the person led to it. */
  reveal: '',
  dismissed: new Set<string>(),
  /** `messageId customId` */
  pending: new Set<string>(),
  form: null as InteractionState | null,
  formError: '',
  toast: '',
  toastIsError: false,
};

keep(
  'screen',
  () => {
    const { guildId, userId, tab, worldOpen, channels, read, dismissed } = ui;
    return { guildId, userId, tab, worldOpen, channels: [...channels], read: [...read], dismissed: [...dismissed] };
  },
  ({ channels, read, dismissed, ...kept }) =>
    Object.assign(ui, kept, { channels: new Map(channels), read: new Map(read), dismissed: new Set(dismissed) }),
);

/** '' without a channel. */
export function currentChannelId(): string {
  const guild = guildOf(ui.guildId);
  if (!guild) return '';
  const shown = channelsFor(guild, ui.userId);
  const chosen = ui.channels.get(guild.id);
  return (shown.find(({ id }) => id === chosen) ?? shown[0])?.id ?? '';
}

let view: (() => TemplateResult) | undefined;
let scheduled = false;
/** A held button must not move: if a message came, its click would be lost. */
let isHeld = false;
let afterwards: (() => void)[] = [];

export function show(app: () => TemplateResult): void {
  view = app;
  draw();
}

export function draw(then?: () => void): void {
  if (then) afterwards.push(then);
  if (scheduled || isHeld) return;
  scheduled = true;
  // A page in the background gets no animation frames, but must still process events.
  if (document.hidden) setTimeout(drawNow, 200);
  else requestAnimationFrame(drawNow);
}

/** For people who keep typing: the next key must find the new field. */
export function drawAtOnce(then: () => void): void {
  afterwards.push(then);
  drawNow();
}

function drawNow(): void {
  scheduled = false;
  if (!view || isHeld) return;
  const channelId = currentChannelId();
  if (channelId && !document.hidden) ui.read.set(channelId, newestIn(channelId));
  if (model) setTimeLocale(localeOf(ui.userId));
  render(view(), document.body);
  const due = afterwards;
  afterwards = [];
  for (const run of due) run();
  if (model) saveSession();
}

addEventListener('pointerdown', ({ button, target }) => {
  isHeld = button === 0 && target instanceof Element && target.closest('button') !== null;
});
for (const end of ['pointerup', 'pointercancel'])
  addEventListener(end, () => {
    if (!isHeld) return;
    isHeld = false;
    draw();
  });

/** The browser reopens a stream that breaks. */
export function listen(): void {
  const source = new EventSource('/_sandbox/events');
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as PageEvent;
    applyEvent(event);
    if (event.type === 'hello') {
      restoreSession();
      chooseStart();
    }
    draw();
  });
  source.addEventListener('open', () => {
    setConnected(true);
    draw();
  });
  source.addEventListener('error', () => {
    setConnected(false);
    draw();
    // After a response other than 200 the browser does not reconnect.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2_000);
  });
}

/** Unless a reload kept the place, the page starts as the first server's owner, in its #alerts. */
function chooseStart(): void {
  if (!model) return;
  const { guilds } = model.discord;
  const first = guilds.find(({ id }) => id === ui.guildId) ?? guilds[0];
  if (!first || memberOf(first, ui.userId)) return;
  ui.guildId = first.id;
  ui.userId = first.ownerId;
  for (const guild of guilds) {
    const alerts = channelsFor(guild, ui.userId).find(({ name }) => name === 'alerts');
    if (alerts) ui.channels.set(guild.id, alerts.id);
    for (const { id } of guild.channels) ui.read.set(id, newestIn(id));
  }
}

const SHOWN_MS = 4 * SECOND;
const ERROR_SHOWN_MS = 8 * SECOND;
let toastTimer: ReturnType<typeof setTimeout> | undefined;

export function notify(text: string, isError = false): void {
  ui.toast = text;
  ui.toastIsError = isError;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(
    () => {
      ui.toast = '';
      draw();
    },
    isError ? ERROR_SHOWN_MS : SHOWN_MS,
  );
  draw();
}

export async function attempt(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    notify((error as Error).message, true);
  }
}
