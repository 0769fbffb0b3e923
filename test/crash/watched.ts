import { type Discord, seed } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Store } from '../../src/store/store.ts';

/** Enough channels that none gets more than 60 alerts in ten minutes, which would become digests. */
const CHANNELS = 300;

export interface Watched {
  channelId: string;
  address: string;
}

export interface OpenedStore {
  store: Store;
  close(): void | Promise<void>;
}

export async function watchAddresses(discord: Discord, { store, close }: OpenedStore): Promise<Watched[]> {
  const watched: Watched[] = [];
  for (let n = 1; n <= CHANNELS; n++) {
    const { id } = discord.act({ do: 'channel.create', guildId: seed.harbor.id, name: `watched-${n}` });
    const address = `0x${n.toString(16).padStart(4, '0').repeat(10)}` as AddressText;
    const place = { guildId: seed.harbor.id, channelId: id!, createdBy: seed.ada, createdAt: 0 };
    await store.subscriptions.add({ ...place, address }, CHANNELS);
    watched.push({ channelId: id!, address });
  }
  await close();
  return watched;
}
