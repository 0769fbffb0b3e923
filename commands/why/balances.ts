import { number, type RenderContext, whatMoved } from '../../src/discord/render/wording.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { leftBy } from '../../src/domain/balance.ts';
import { ChainError } from '../../src/domain/chain-node.ts';
import { inTime, SECOND } from '../../src/domain/clock.ts';
import type { TransferHistory } from '../../src/domain/history.ts';
import { shortAddress } from '../../src/domain/typed-address.ts';
import { titleName } from '../shared/naming.ts';
import type { Context } from '../shared/services.ts';

const MAX_WAIT_MS = 3 * SECOND;

type NamingContext = Context & { names: ReadonlyMap<AddressText, string>; rendering: RenderContext };

type Values = Partial<Record<AddressText, string>>;

/** What a transfer left to the watched addresses, as lines; it is read once and kept. */
export async function balanceLines(
  { id, transfer, decisions }: TransferHistory,
  context: NamingContext,
): Promise<string[]> {
  const { chain, t } = context;
  const watched = new Set(decisions.flatMap(({ address }) => address ?? []));
  const left = [...watched].flatMap((address) => leftBy(transfer, address) ?? []);
  if (chain === null || left.length === 0) return [];
  const [{ block }] = left as [(typeof left)[0]];
  const kept: Values = transfer.balances?.block === block ? transfer.balances.of : {};
  const isKept = left.every(({ address }) => kept[address] !== undefined);
  const read = async (): Promise<Values> => {
    const found = (await chain.holdings(block, left)).flatMap((value, index) =>
      value === null ? [] : [{ transferId: id, address: left[index]!.address, block, balance: value.toString() }],
    );
    await context.balances.keep(found, false, context.now());
    return Object.fromEntries(found.map(({ address, balance }) => [address, balance]));
  };
  try {
    const values = isKept ? kept : await inTime(read(), MAX_WAIT_MS, context);
    if (values === null) return [`-# ${t('why.noBalance.away')}`];
    return left.flatMap(({ address }) => {
      const value = values[address];
      if (value === undefined) return [];
      const name = titleName(context.names.get(address), `\`${shortAddress(address)}\``);
      const amount = whatMoved({ ...transfer, value }, context.rendering);
      return t('why.balance', { name, amount, block: number(block, context.rendering) });
    });
  } catch (error) {
    if (!(error instanceof ChainError)) throw error;
    return [`-# ${t(`why.noBalance.${error.failure === 'pruned' ? 'pruned' : 'away'}`)}`];
  }
}
