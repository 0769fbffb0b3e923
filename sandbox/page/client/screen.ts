/** The state of the screen, drawing, and the calls to the server. */
import { render, type TemplateResult } from 'lit-html';
import type { FaultRule, InteractionRequest, InteractionState, WorldAction } from '../../discord/control.ts';
import type { ActionResult, PageAction, PageEvent } from '../protocol.ts';
import { channelsFor, guildOf, known, learn, localeOf, memberOf, newestIn, setConnected } from './model.ts';
import { restoreParts, saveSession } from './session.ts';
import { setTimeLocale } from './time.ts';

/** What a narrow screen shows over the channel, the colors, and the tabs of the world's panel. */
export type Drawer = 'none' | 'channels' | 'world';
export type Theme = 'system' | 'dark' | 'light';
export type Tab = 'events' | 'send' | 'watch' | 'break';

/** The choices of the person at the screen. */
export const ui = {
  guildId: '',
  userId: '',
  /** The channel last looked at in each server. */
  channels: new Map<string, string>(),
  /** The newest message seen in each channel. */
  read: new Map<string, string>(),
  drawer: 'none' as Drawer,
  worldOpen: true,
  theme: 'system' as Theme,
  tab: 'events' as Tab,
  peopleOpen: false,
  /** Whether the newest messages are on the screen, and stay there as more arrive. */
  following: true,
  /** The message that an action of the person led to, until it was brought into view. */
  reveal: '',
  /** Ephemeral messages that were dismissed. */
  dismissed: new Set<string>(),
  /** Buttons and menus whose interaction is under way: `messageId customId`. */
  pending: new Set<string>(),
  /** The form that the bot opened. */
  form: null as InteractionState | null,
  formError: '',
  toast: '',
  toastIsError: false,
};

/** Returns the id of the channel on the screen, or ''. */
export function currentChannelId(): string {
  const guild = guildOf(ui.guildId);
  if (!guild) return '';
  const shown = channelsFor(guild, ui.userId);
  const chosen = ui.channels.get(guild.id);
  return (shown.find(({ id }) => id === chosen) ?? shown[0])?.id ?? '';
}

let view: (() => TemplateResult) | undefined;
let scheduled = false;
let afterwards: (() => void)[] = [];

/** Draws `app` from now on, whenever something changes. */
export function show(app: () => TemplateResult): void {
  view = app;
  draw();
}

/** Draws soon; `then` runs after that. */
export function draw(then?: () => void): void {
  if (then) afterwards.push(then);
  if (scheduled) return;
  scheduled = true;
  // A page in the background gets no animation frames, but must still process events.
  if (document.hidden) setTimeout(drawNow, 200);
  else requestAnimationFrame(drawNow);
}

/** Draws at once, for people who keep typing: the next key must find the new field. */
export function drawAtOnce(then: () => void): void {
  afterwards.push(then);
  drawNow();
}

function drawNow(): void {
  scheduled = false;
  if (!view) return;
  const channelId = currentChannelId();
  if (channelId && !document.hidden) ui.read.set(channelId, newestIn(channelId));
  if (known) setTimeLocale(localeOf(ui.userId));
  render(view(), document.body);
  const due = afterwards;
  afterwards = [];
  for (const run of due) run();
  if (known) saveSession();
}

/** Opens the event stream. The browser reopens it when it breaks. */
export function listen(): void {
  const source = new EventSource('/_sandbox/events');
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const event = JSON.parse(data) as PageEvent;
    learn(event);
    if (event.type === 'hello') settle();
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

/** Chooses where to start, unless a reload kept it: as the owner of the first server, in its #alerts. */
function settle(): void {
  if (!known) return;
  const first = known.discord.guilds.find(({ id }) => id === ui.guildId) ?? known.discord.guilds[0];
  if (!first) return;
  if (!memberOf(first, ui.userId)) {
    ui.guildId = first.id;
    ui.userId = first.ownerId;
    for (const guild of known.discord.guilds) {
      const alerts = channelsFor(guild, ui.userId).find(({ name }) => name === 'alerts');
      if (alerts) ui.channels.set(guild.id, alerts.id);
    }
    for (const guild of known.discord.guilds) for (const { id } of guild.channels) ui.read.set(id, newestIn(id));
  }
  restoreParts();
}

async function call<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const response = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined as Result;
  const result = (await response.json()) as Result & { error?: string };
  if (!response.ok) throw new Error(result.error ?? `The sandbox responded ${response.status}.`);
  return result;
}

/** Sends an interaction. @throws with a sentence when a Discord client would refuse it. */
export const interact = (request: InteractionRequest): Promise<InteractionState> =>
  call('POST', '/_control/interactions', request);

const SHOWN_MS = 4_000;
const ERROR_SHOWN_MS = 8_000;
let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a sentence for a few seconds and announces it to screen readers. */
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

/** Runs something that may fail, and shows the error if it does. */
export async function attempt(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    notify((error as Error).message, true);
  }
}

/** Performs an action on the world outside Discord, and shows the result. */
export const perform = (action: PageAction): Promise<void> =>
  attempt(async () => notify((await call<ActionResult>('POST', '/_sandbox/act', action)).message));

/** Changes something in Discord. */
export const change = (action: WorldAction, done: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/world', action);
    if (done) notify(done);
  });

/** Adds a fault to Discord. */
export const addFault = (rule: FaultRule, done: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/faults', rule);
    notify(done);
  });

/** Removes one fault, or all. */
export const clearFault = (id?: string): Promise<void> =>
  attempt(() => call('DELETE', id === undefined ? '/_control/faults' : `/_control/faults/${id}`));

/** Shows what an interaction led to: its reply comes into view, or a form opens. */
export function follow(state: InteractionState): void {
  ui.reveal = state.reply?.id ?? state.id;
  draw();
  if (!state.modal) return;
  ui.form = state;
  ui.formError = '';
  draw();
}

/** Presses a button or chooses in a menu. While that is pending, the same component does nothing. */
export async function useComponent(messageId: string, customId: string, values?: string[]): Promise<void> {
  const key = `${messageId} ${customId}`;
  if (ui.pending.has(key)) return;
  ui.pending.add(key);
  draw();
  const who = { userId: ui.userId, channelId: currentChannelId(), messageId, customId };
  await attempt(async () =>
    follow(await interact(values ? { kind: 'select', ...who, values } : { kind: 'button', ...who })),
  );
  ui.pending.delete(key);
  draw();
}

/** Uses a command from a message's menu. */
export async function applyCommand(name: string, messageId: string): Promise<void> {
  const who = { userId: ui.userId, channelId: currentChannelId() };
  await attempt(async () => follow(await interact({ kind: 'message-command', ...who, name, messageId })));
}
