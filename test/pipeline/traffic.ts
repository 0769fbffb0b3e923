import { seed } from '../../sandbox/discord/index.ts';
import type { TransferHistory } from '../../src/domain/history.ts';
import type { DeliveryIdentity } from '../../src/domain/inbox.ts';
import { newDelivery } from '../new-delivery.ts';
import type { RestartableApp } from './harness.ts';
import type { Machine } from './time.ts';

export function createTraffic(bot: RestartableApp, machine: Machine) {
  const receivedHashes = new Set<string>();
  const note = (text: string) => {
    const [, txHash] = /"txHash":"(0x[0-9a-f]{64})"/.exec(text) ?? [];
    if (txHash) receivedHashes.add(txHash);
  };

  /** The records of each received transaction's transfers in every guild, as `/why` reads them; oldest first. */
  async function histories(): Promise<TransferHistory[]> {
    const { history, projects } = bot.store;
    const own = (await projects.all()).filter(({ network }) => network === 0);
    const scopes = new Map(own.map(({ guildId, scope }) => [guildId, scope]));
    const read = [...receivedHashes].flatMap((txHash) =>
      [seed.harbor.id, seed.orchid.id].map((guildId) =>
        history.transfers(
          { guildId, txHash, ownScopes: scopes.has(guildId) ? [scopes.get(guildId)!] : [] },
          machine.now(),
          100,
        ),
      ),
    );
    return (await Promise.all(read)).flatMap(({ first }) => first);
  }

  return {
    /** Stores a body, past HTTP. */
    async receive(event: object | string, scope = 0, identity: DeliveryIdentity | null = null): Promise<void> {
      const { admission, intake } = bot.app.internals.receiver;
      const ticket = admission.admit(scope, 'POST', undefined);
      if ('reason' in ticket) throw new Error(`The delivery was refused: ${ticket.reason}.`);
      ticket.identity = identity;
      const text = typeof event === 'string' ? event : JSON.stringify(event);
      note(text);
      const result = await new Promise<string>((resolve) => {
        intake.store(ticket, Buffer.from(text), (stored) => {
          admission.close(ticket);
          resolve(stored);
        });
      });
      if (result !== 'stored') throw new Error(`The delivery was refused: ${result}.`);
    },
    /** Stores events in one commit, past the receiver: the router reads them together. */
    async storeTogether(events: readonly object[]): Promise<void> {
      const receivedAt = machine.now();
      const texts = events.map((event) => JSON.stringify(event));
      texts.forEach(note);
      await bot.store.inbox.append(texts.map((text) => newDelivery(text, { receivedAt })));
      bot.app.internals.working().router.wake();
    },
    histories,
    /** The outcome of each decision: `matched`, or the reason why the transfer is hidden. */
    outcomes: async () => (await histories()).flatMap(({ decisions }) => decisions.map(({ outcome }) => outcome)),
  };
}
