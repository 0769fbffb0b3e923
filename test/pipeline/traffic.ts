import { seed } from '../../sandbox/discord/index.ts';
import type { TransferHistory } from '../../src/domain/history.ts';
import type { Pipeline } from './harness.ts';
import type { Machine } from './machine.ts';
import type { RestartableApp } from './restartable.ts';

/** Delivers to the bot, past HTTP, and reads what it recorded. */
export function createTraffic(
  bot: RestartableApp,
  machine: Machine,
): Pick<Pipeline, 'receive' | 'storeTogether' | 'histories' | 'outcomes'> {
  /** The hashes of the transactions of all bodies. */
  const received = new Set<string>();
  const note = (text: string) => {
    const [, txHash] = /"txHash":"(0x[0-9a-f]{64})"/.exec(text) ?? [];
    if (txHash) received.add(txHash);
  };

  async function histories(): Promise<TransferHistory[]> {
    const { history, projects } = bot.store;
    const scopes = await projects.scopes();
    const read = [...received].flatMap((txHash) =>
      [seed.harbor.id, seed.orchid.id].map((guildId) =>
        history.transfers(guildId, txHash, scopes.get(guildId) ?? null, machine.now(), 100),
      ),
    );
    return (await Promise.all(read)).flatMap(({ first }) => first);
  }

  return {
    async receive(event, answered = 0, scope = 0, identity = null) {
      const { intake } = bot.app.internals;
      const ticket = intake.admit(scope);
      if (typeof ticket === 'string') throw new Error(`The delivery was refused: ${ticket}.`);
      ticket.identity = identity;
      const text = typeof event === 'string' ? event : JSON.stringify(event);
      note(text);
      const result = await new Promise<string>((resolve) => {
        intake.store(ticket, Buffer.from(text), (stored) => {
          // The response ends before the router hears of the delivery, so the router never waits for it.
          intake.end(ticket, answered === null ? null : ticket.arrivedAt + answered);
          resolve(stored);
        });
      });
      if (result !== 'stored') throw new Error(`The delivery was refused: ${result}.`);
    },
    async storeTogether(events) {
      const receivedAt = machine.now();
      const texts = events.map((event) => JSON.stringify(event));
      texts.forEach(note);
      await bot.store.inbox.append(texts.map((text) => ({ scope: 0, receivedAt, body: Buffer.from(text) })));
    },
    histories,
    outcomes: async () => (await histories()).flatMap(({ decisions }) => decisions.map(({ outcome }) => outcome)),
  };
}
