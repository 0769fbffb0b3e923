import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { menuOf, textOf } from '../commands/people.ts';
import { shownIn } from '../discord/shown.ts';
import { networksEnvironment } from '../networks-file.ts';
import { PROJECT, startWholeWorld, type WholeWorld } from './world.ts';

const NAMES = ['harbor', 'base'] as const;
const CHAINS = [31_337, 8453] as const;
/** Signs without naming a chain, as before EIP-155: such a transaction has the same hash on every chain. */
const signer = privateKeyToAccount(`0x${'42'.repeat(32)}`);
let chains: Chain[];
let world: WholeWorld;
type DiscordMessage = ReturnType<Discord['messages']>[number];

beforeAll(async () => {
  chains = await Promise.all(CHAINS.map((id) => startChain(id)));
  const options = {
    chains: chains.map((chain, index) => ({
      name: NAMES[index]!,
      nodes: [{ url: chain.rpcUrl }],
      cataloged: [chain.tokens.dollar.address],
    })),
  };
  const { id: projectId, key: apiKey, secret: apiSecret, signingSecrets } = PROJECT;
  world = await startWholeWorld(chains, options, ({ url }) =>
    networksEnvironment(
      NAMES.map((name, index) => ({
        name,
        title: name.toUpperCase(),
        chainId: CHAINS[index],
        receiverToken: `receiver-token-of-${name}`,
        sources: ['127.0.0.1'],
        rpc: [chains[index]!.rpcUrl],
        explorerUrl: `${url}/${name}/explorer`,
        explorerApiUrl: `${url}/${name}/explorer/v0`,
        notification: {
          url: `${url}/${name}/notification/v0`,
          projectId,
          apiKey,
          apiSecret,
          signingSecret: signingSecrets[0],
        },
      })),
    ),
  );
  for (const name of NAMES) {
    const root = `${world.services.url}/${name}/notification/v0`;
    await world.addWebhook(root, `receiver-token-of-${name}`, [chains[0]!.wallets.Carol]);
  }
});
afterAll(() => world.close());

const alerts = () => world.alerts().map(({ text }) => text);

/** Mines the same signed transaction on every chain; returns its hash. */
async function onBoth(nonce: number, to: Hex, rest: { value?: bigint; data?: Hex }): Promise<string> {
  const fee = { gas: 200_000n, gasPrice: 10n ** 10n };
  const signed = await signer.signTransaction({ type: 'legacy', nonce, to, ...fee, ...rest });
  const hashes = await Promise.all(chains.map((chain) => rpcOf(chain.rpcUrl)('eth_sendRawTransaction', [signed])));
  for (const chain of chains) await rpcOf(chain.rpcUrl)('evm_mine');
  expect(new Set(hashes).size).toBe(1);
  return String(hashes[0]);
}

it('posts equal transfers of two chains once each, also after a crash, and names their networks', async () => {
  const [first] = chains as [Chain, Chain];
  const { Treasury } = first.wallets;
  const dollar = first.tokens.dollar.address;
  expect(chains[1]).toMatchObject({ wallets: { Treasury }, tokens: { dollar: { address: dollar } } });
  for (const chain of chains) {
    await chain.transfer({ kind: 'native', from: 'Alice', to: signer.address, amount: 10n ** 18n });
    await chain.transfer({ kind: 'erc20', from: 'Bob', to: signer.address, amount: 9_000_000n });
  }
  expect(await world.read('subscription add', { address: Treasury, label: 'Treasury' })).toContain(
    '✅ HARBOR · ✅ BASE',
  );
  const coin = await onBoth(0, Treasury, { value: 5n });
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [Treasury, 7_000_000n] });
  const token = await onBoth(1, dollar, { data });
  const of = (hash: string) => alerts().filter((text) => text.includes(hash));
  const namesOf = (hash: string) => of(hash).map((text) => /HARBOR|BASE/.exec(text.replaceAll(hash, ''))?.[0]);
  await world.discord.until('both are posted on both', () => of(coin).length >= 2 && of(token).length >= 2);
  await world.bot.stop('SIGKILL');
  await world.bot.start();
  const later = await onBoth(2, Treasury, { value: 6n });
  await world.discord.until('what came later is posted', () => of(later).length >= 2);
  for (const hash of [coin, token, later]) expect(namesOf(hash).toSorted()).toEqual(['BASE', 'HARBOR']);
  expect(of(token).filter((text) => text.includes('/base/explorer/'))).toHaveLength(1);
  const why = await world.read('why', { transaction: coin });
  expect(['HARBOR\n', 'BASE\n'].map((text) => why.includes(text))).toEqual([true, true]);
  expect(why).not.toContain('transfers of this transaction');
  // Which of them share a message depends on when they arrive; that of two chains' equal hashes has both to choose from.
  const keysOf = (one: DiscordMessage) =>
    shownIn(one.message).map(({ text }) => {
      const hash = [coin, token, later].find((some) => text.includes(some))!;
      return `${hash}@${text.includes('/base/explorer/') ? 8453 : 0}`;
    });
  const hashOfBoth = (keys: string[]) =>
    [coin, token, later].find((hash) => keys.includes(`${hash}@0`) && keys.includes(`${hash}@8453`));
  const posted = world.discord.messages(seed.harbor.alerts).find((one) => hashOfBoth(keysOf(one)) !== undefined)!;
  const customId = /why:show:[^"]+/.exec(JSON.stringify(posted.message))![0];
  const who = { userId: seed.ada, channelId: seed.harbor.alerts };
  const shown = await (await world.discord.use({ kind: 'button', messageId: posted.id, customId, ...who })).final();
  const menu = menuOf(shown);
  expect(menu.options.map(({ value }) => value).sort()).toEqual(keysOf(posted).sort());
  const details = textOf(await world.choose(shown, [`${hashOfBoth(keysOf(posted))}@8453`]));
  expect(['HARBOR\n', 'BASE\n'].map((text) => details.includes(text))).toEqual([false, true]);
  expect(await world.read('activity', { address: Treasury, network: 'base' })).toContain('**3** incoming');
  expect(await world.read('activity', { address: Treasury })).toContain('**6** incoming');
  expect(await world.read('setup check', {})).not.toContain('❌');
});
