/** The messages that the stand-in keeps: the newest, including deleted ones. */
import type { MessageState } from './control.ts';
import type { Files } from './files.ts';

const MAX_MESSAGES = 20_000;

/** Creates the archive of messages. */
export function createMessageArchive(files: Files) {
  let created = 0;
  const states = new Map<string, MessageState>();
  const byChannel = new Map<string, string[]>();

  function prune(): void {
    for (const [id, state] of states) {
      if (states.size <= MAX_MESSAGES) break;
      states.delete(id);
      byChannel.get(state.channelId)?.shift();
      files.drop(state.message);
    }
  }

  return {
    /** How many were ever added. */
    get created() {
      return created;
    },
    /** Returns the message with this id, even if it is deleted. */
    get: (id: string): MessageState | undefined => states.get(id),
    /** Returns the messages of a channel, oldest first, without deleted ones. */
    in: (channelId: string): MessageState[] =>
      (byChannel.get(channelId) ?? []).map((id) => states.get(id)!).filter(({ deleted }) => !deleted),
    all: (): MessageState[] => [...states.values()],
    add(state: MessageState): void {
      states.set(state.id, state);
      const list = byChannel.get(state.channelId);
      if (list) list.push(state.id);
      else byChannel.set(state.channelId, [state.id]);
      created++;
      prune();
    },
    /** Deletes a deleted channel's messages without an event. */
    removeChannel(channelId: string): void {
      for (const id of byChannel.get(channelId) ?? []) states.get(id)!.deleted = true;
      byChannel.delete(channelId);
    },
    clear(): void {
      states.clear();
      byChannel.clear();
      files.forget();
      created = 0;
    },
  };
}
