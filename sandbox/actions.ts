import { parseUnits } from 'viem';
import type { Notification } from '../services/notification/types.ts';
import type { Bot } from './bot.ts';
import { type Address, type Chain, type Mined, type Party, type TransferRequest, WALLET_NAMES } from './chain/index.ts';
import type { PageAction } from './page/protocol.ts';
import type { PriceSource } from './prices.ts';
import type { Webhook } from './webhook.ts';

/** Its message is a sentence for the person at the page. */
export class CannotDo extends Error {}

export interface ActionOptions {
  chain: Chain;
  notification: Notification;
  webhook: Webhook;
  bot: Bot;
  prices: Pick<PriceSource, 'setFault'>;
  startSecond(): Promise<string>;
  /** Resolves when the last everyday transfer is mined. */
  setTraffic(on: boolean): Promise<void>;
}

type ActionOf<Do extends PageAction['do']> = Extract<PageAction, { do: Do }>;

export async function perform(options: ActionOptions, action: PageAction): Promise<string> {
  const { chain, webhook, notification, bot } = options;
  switch (action.do) {
    case 'transfer':
      return sentence(await chain.transfer(transferOf(chain, action)));
    case 'burst':
      return `${(await chain.burst(action.count)).length} transfers were mined in one block.`;
    case 'swap':
      return sentence(await chain.swap(party(action.from)));
    case 'sweep':
      return sentence(await chain.sweep({ ...pair(action), count: action.count }));
    case 'lookalike': {
      const mined = await chain.lookalike({ like: party(action.like), to: party(action.to) });
      return `${sentence(mined)} The sender ${mined.address} looks like ${action.like}.`;
    }
    case 'identical-transfers':
      return sentence(await chain.identicalTransfers(pair(action)));
    case 'mint':
      return sentence(await chain.mint({ to: party(action.to), ...(action.token && { token: action.token }) }));
    case 'burn':
      return sentence(await chain.burn({ from: party(action.from), ...(action.token && { token: action.token }) }));
    case 'traffic':
      await options.setTraffic(action.on);
      return action.on ? 'Everyday transfers are on.' : 'Everyday transfers are off.';
    case 'watch':
      await webhook.add([action.address]);
      return `The webhook now watches ${action.address}.`;
    case 'unwatch':
      await webhook.remove([action.address]);
      return `The webhook no longer watches ${action.address}.`;
    case 'notification':
      notification.setFaults(action.faults);
      return 'The notification service has changed its behavior.';
    case 'prices':
      options.prices.setFault(action.fault);
      return 'The price source has changed its behavior. The bot asks it again within 4 minutes.';
    case 'deliver': {
      if (bot.state.state !== 'running') throw new CannotDo('The bot is down. Start it first.');
      const waiting = notification.pending();
      if (waiting === 0) return 'Nothing is waiting to be delivered.';
      notification.deliverNow();
      return `Delivering ${waiting} waiting ${waiting === 1 ? 'event' : 'events'} now.`;
    }
    case 'second-network':
      return options.startSecond();
    case 'bot':
      return performOnBot(bot, action);
  }
}

async function performOnBot(bot: Bot, { what }: ActionOf<'bot'>): Promise<string> {
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

function transferOf(chain: Chain, action: ActionOf<'transfer'>): TransferRequest {
  const { kind } = action;
  switch (kind) {
    case 'native':
    case 'internal':
      return { kind, ...pair(action), ...amount(action.amount, 18) };
    case 'erc20': {
      const token = action.token ?? 'dollar';
      if (token === 'keys' || token === 'names' || token === 'supplies')
        throw new CannotDo(`${token} is not an ERC-20 token.`);
      return { kind, ...pair(action), token, ...amount(action.amount, chain.tokens[token].decimals) };
    }
    case 'erc721':
      return { kind, ...pair(action), token: action.token === 'names' ? 'names' : 'keys' };
    case 'erc1155':
      return { kind, ...pair(action), ...amount(action.amount, 0), ...(action.batch && { batch: true }) };
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

function sentence({ summary, blockNumber }: Mined): string {
  return `${summary} (block ${blockNumber}).`;
}
