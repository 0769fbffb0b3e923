import type { FaultRule, InteractionRequest, InteractionState, WorldAction } from '../../discord/control.ts';
import type { PageAction } from '../protocol.ts';
import { attempt, currentChannelId, draw, notify, ui } from './screen.ts';

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

type Action<R> = R extends unknown ? Omit<R, 'userId' | 'channelId'> : never;

/** In the channel on the screen. @throws with a sentence when a Discord client would refuse it. */
export const interact = (action: Action<InteractionRequest>): Promise<InteractionState> =>
  call('POST', '/_control/interactions', { ...action, userId: ui.userId, channelId: currentChannelId() });

export const perform = (action: PageAction): Promise<void> =>
  attempt(async () => {
    const request = { ...action, network: ui.network };
    notify((await call<{ message: string }>('POST', '/_sandbox/act', request)).message);
  });

export const change = (action: WorldAction, done: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/world', action);
    if (done) notify(done);
  });

export const addFault = (rule: FaultRule, done: string): Promise<void> =>
  attempt(async () => {
    await call('POST', '/_control/faults', rule);
    notify(done);
  });

/** Without an id: all. */
export const clearFault = (id?: string): Promise<void> =>
  attempt(() => call('DELETE', id === undefined ? '/_control/faults' : `/_control/faults/${id}`));

/** The reply comes into view, or the form opens. */
export function follow(state: InteractionState): void {
  ui.reveal = state.reply?.id ?? state.id;
  if (state.modal) {
    ui.form = state;
    ui.formError = '';
  }
  draw();
}

/** While an interaction is pending, its component does nothing. */
export async function useComponent(messageId: string, customId: string, values?: string[]): Promise<void> {
  const key = `${messageId} ${customId}`;
  if (ui.pending.has(key)) return;
  ui.pending.add(key);
  draw();
  const component = { messageId, customId };
  await attempt(async () =>
    follow(await interact(values ? { kind: 'select', ...component, values } : { kind: 'button', ...component })),
  );
  ui.pending.delete(key);
  draw();
}

export async function applyCommand(name: string, messageId: string): Promise<void> {
  await attempt(async () => follow(await interact({ kind: 'message-command', name, messageId })));
}
