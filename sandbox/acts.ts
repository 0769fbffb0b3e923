/** Performs the page's actions: transfers, the webhook's addresses, faults of the services, the bot's process. */
import { parseUnits } from 'viem';
import type { Notification } from '../services/notification/types.ts';
import type { Bot } from './bot.ts';
import { type Address, type Chain, type Mined, type Party, type TransferRequest, WALLET_NAMES } from './chain/index.ts';
import type { Act } from './page/protocol.ts';
import type { Webhook } from './webhook.ts';

/** An action that is not possible. The message is a sentence for the person at the page. */
export class CannotDo extends Error {}

/** What actions work on. */
export interface Stage {
  chain: Chain;
  notification: Notification;
  webhook: Webhook;
  bot: Bot;
  /** Turns everyday transfers on or off. Resolves when the last one is mined. */
  setTraffic(on: boolean): Promise<void>;
}

type Of<D extends Act['do']> = Extract<Act, { do: D }>;

/** Performs an action and returns a sentence about the result. @throws {@link CannotDo} */
export async function perform(stage: Stage, act: Act): Promise<string> {
  const { chain, webhook, notification } = stage;
  switch (act.do) {
    case 'transfer':
      return report(await chain.transfer(transferOf(chain, act)));
    case 'burst':
      return `${(await chain.burst(act.count)).length} transfers were mined in one block.`;
    case 'swap':
      return report(await chain.swap(party(act.from)));
    case 'sweep':
      return report(await chain.sweep({ ...pair(act), count: act.count }));
    case 'lookalike': {
      const mined = await chain.lookalike({ like: party(act.like), to: party(act.to) });
      return `${report(mined)} The sender ${mined.address} looks like ${act.like}.`;
    }
    case 'hostile':
      return report(await chain.hostile(pair(act)));
    case 'fake':
      return report(await chain.fake(pair(act)));
    case 'twins':
      return report(await chain.twins(pair(act)));
    case 'mint':
      return report(await chain.mint({ to: party(act.to), ...(act.token && { token: act.token }) }));
    case 'burn':
      return report(await chain.burn({ from: party(act.from), ...(act.token && { token: act.token }) }));
    case 'traffic':
      await stage.setTraffic(act.on);
      return act.on ? 'Everyday transfers are on.' : 'Everyday transfers are off.';
    case 'watch':
      await webhook.add([act.address]);
      return `The webhook now watches ${act.address}.`;
    case 'unwatch':
      await webhook.remove([act.address]);
      return `The webhook no longer watches ${act.address}.`;
    case 'notification':
      notification.setFaults(definedOnly(act.faults));
      return 'The notification service has changed its behavior.';
    case 'deliver': {
      if (stage.bot.state.state !== 'running') throw new CannotDo('The bot is down. Start it first.');
      const waiting = notification.pending();
      if (waiting === 0) return 'Nothing is waiting to be delivered.';
      notification.deliverNow();
      return `Delivering ${waiting} waiting ${waiting === 1 ? 'event' : 'events'} now.`;
    }
    case 'bot':
      return performOnBot(stage.bot, act);
  }
}

async function performOnBot(bot: Bot, { what }: Of<'bot'>): Promise<string> {
  switch (what) {
    case 'kill':
      if (bot.state.state === 'stopped') throw new CannotDo('The bot is not running.');
      await bot.kill();
      return 'The bot was killed (SIGKILL). Events wait at the notification service until it runs again.';
    case 'start':
      if (bot.state.state !== 'stopped') throw new CannotDo('The bot is already running.');
      bot.start();
      return 'The bot is starting.';
    case 'restart':
      await bot.stop();
      bot.start();
      return 'The bot was stopped (SIGTERM) and is starting again.';
  }
}

function transferOf(chain: Chain, act: Of<'transfer'>): TransferRequest {
  const { kind } = act;
  switch (kind) {
    case 'native':
    case 'internal':
      return { kind, ...pair(act), ...amount(act.amount, 18) };
    case 'erc20': {
      const token = act.token ?? 'dollar';
      if (token === 'keys' || token === 'names' || token === 'supplies')
        throw new CannotDo(`${token} is not an ERC-20 token.`);
      return { kind, ...pair(act), token, ...amount(act.amount, chain.tokens[token].decimals) };
    }
    case 'erc721':
      return { kind, ...pair(act), token: act.token === 'names' ? 'names' : 'keys' };
    case 'erc1155':
      return { kind, ...pair(act), ...amount(act.amount, 0), ...(act.batch && { batch: true }) };
  }
}

function amount(text: string | undefined, decimals: number): { amount?: bigint } {
  if (text === undefined) return {};
  if ((text.split('.')[1]?.length ?? 0) > decimals)
    throw new CannotDo(`This token has ${decimals} decimals; ${text} has more.`);
  return { amount: parseUnits(text, decimals) };
}

function party(text: string): Party {
  if (/^0x/.test(text)) return text as Address;
  const name = WALLET_NAMES.find((known) => known === text);
  if (name === undefined) throw new CannotDo(`There is no wallet "${text}". Choose one of ${WALLET_NAMES.join(', ')}.`);
  return name;
}

function pair({ from, to }: { from: string; to: string }): { from: Party; to: Party } {
  return { from: party(from), to: party(to) };
}

function report({ summary, blockNumber }: Mined): string {
  return `${summary} (block ${blockNumber}).`;
}

function definedOnly<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
