/** What is on the screen: choices of the person at it, drawing, and the calls to the server. */
import { render, type TemplateResult } from 'lit-html';
import type { FaultRule, InteractionRequest, InteractionState, WorldAction } from '../../discord/control.ts';
import type { Act, ActResult, PageEvent } from '../protocol.ts';
import { channelsFor, guildOf, known, learn, newestIn, setConnected } from './model.ts';

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
  /** Whether the newest messages are on the screen, and stay there as more come. */
  following: true,
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

/** The channel on the screen, or '' if there is none. */
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

/** Draws `app` from now on, whenever something changed. */
export function show(app: () => TemplateResult): void {
  view = app;
  draw();
}

/** Draws soon; `then` runs after that. */
export function draw(then?: () => void): void {
  if (then) afterwards.push(then);
  if (scheduled) return;
  scheduled = true;
  // A page in the background is given no animation frames, but must not pile up news.
  if (document.hidden) setTimeout(drawNow, 200);
  else requestAnimationFrame(drawNow);
}

/** Draws at once, for whoever types on without a pause: the next key must find the new field. */
export function drawAtOnce(then: () => void): void {
  afterwards.push(then);
  drawNow();
}

function drawNow(): void {
  scheduled = false;
  if (!view) return;
  const channelId = currentChannelId();
  if (channelId && !document.hidden) ui.read.set(channelId, newestIn(channelId));
  render(view(), document.body);
  const due = afterwards;
  afterwards = [];
  for (const run of due) run();
}

/** Opens the stream of news; the browser opens it again by itself when it breaks. */
export function listen(): void {
  const source = new EventSource('/_sandbox/events');
  source.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const news = JSON.parse(data) as PageEvent;
    learn(news);
    if (news.type === 'hello') settle();
    draw();
  });
  source.addEventListener('open', () => {
    setConnected(true);
    draw();
  });
  source.addEventListener('error', () => {
    setConnected(false);
    draw();
    // After an answer other than 200 the browser gives up for good.
    if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2_000);
  });
}

/** Chooses where to begin: as the owner of the first server, in its channel of alerts. */
function settle(): void {
  if (!known) return;
  const first = known.discord.guilds.find(({ id }) => id === ui.guildId) ?? known.discord.guilds[0];
  if (!first) return;
  if (ui.guildId !== first.id) {
    ui.guildId = first.id;
    ui.userId = first.ownerId;
    for (const guild of known.discord.guilds) {
      const alerts = channelsFor(guild, ui.userId).find(({ name }) => name === 'alerts');
      if (alerts) ui.channels.set(guild.id, alerts.id);
    }
    for (const guild of known.discord.guilds) for (const { id } of guild.channels) ui.read.set(id, newestIn(id));
  }
}

async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (response.status === 204) return undefined as Answer;
  const answer = (await response.json()) as Answer & { error?: string };
  if (!response.ok) throw new Error(answer.error ?? `The sandbox answered ${response.status}.`);
  return answer;
}

/** A person does something to the bot; throws with a sentence when a client would not let them. */
export const interact = (request: InteractionRequest): Promise<InteractionState> =>
  call('POST', '/_control/interactions', request);

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Says something for a few seconds, also to screen readers. */
export function say(text: string, isError = false): void {
  ui.toast = text;
  ui.toastIsError = isError;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    ui.toast = '';
    draw();
  }, 7_000);
  draw();
}

/** Runs something that may fail, and says so if it does. */
export async function attempt(run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    say((error as Error).message, true);
  }
}

/** Does something to the world outside Discord, and says what was done. */
export const perform = (act: Act): Promise<void> =>
  attempt(async () => say((await call<ActResult>('POST', '/_sandbox/act', act)).told));

/** Changes something in Discord. */
export const change = (action: WorldAction, told: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/world', action);
    if (told) say(told);
  });

/** Breaks something in Discord. */
export const addFault = (rule: FaultRule, told: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/faults', rule);
    say(told);
  });

/** Mends one fault, or all. */
export const clearFault = (id?: string): Promise<void> =>
  attempt(() => call('DELETE', id === undefined ? '/_control/faults' : `/_control/faults/${id}`));

/** Takes in what an interaction came to: a form opens. Failures show in the channel by themselves. */
export function follow(state: InteractionState): void {
  if (!state.modal) return;
  ui.form = state;
  ui.formError = '';
  draw();
}

/** Presses a button or chooses in a menu, once at a time. */
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

/** Uses a command of a message's own menu. */
export async function applyCommand(name: string, messageId: string): Promise<void> {
  const who = { userId: ui.userId, channelId: currentChannelId() };
  await attempt(async () => follow(await interact({ kind: 'message-command', ...who, name, messageId })));
}
