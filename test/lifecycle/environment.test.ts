import { expect, it, onTestFinished } from 'vitest';
import { createManualClock, seed } from '../../sandbox/discord/index.ts';
import { payment } from '../pipeline/harness.ts';
import { startUpstream } from '../upstream/server.ts';
import { CHANNEL, startWhole } from './app.ts';

const TOKEN = '0x5Df217D84e67a4aAc9d130fc7AfED5a94e873f0D';

it('applies the environment’s explorer, coin and maximum of subscriptions to what people see', async () => {
  const explorer = await startUpstream(() => ({ body: { status: '0', message: 'not found', result: null } }));
  onTestFinished(() => explorer.close());
  const { discord, deliver, registered } = await startWhole({
    environment: {
      EXPLORER_API_URL: `${explorer.url}/v0`,
      EXPLORER_ADDRESS_PARAM: 'token_address',
      EXPLORER_API_KEY: 'explorer-key',
      EXPLORER_URL: 'https://explorer.example/',
      NATIVE_SYMBOL: 'BELL',
      MAX_SUBSCRIPTIONS: '1',
    },
    // Its time stands still: a busy machine may take long to answer.
    discordClock: createManualClock(Date.now()),
  });
  await registered();
  const use = async (name: string) => {
    const asked = { kind: 'command', name, options: { address: TOKEN }, userId: seed.ada, channelId: CHANNEL } as const;
    return JSON.stringify((await (await discord.use(asked)).final()).reply);
  };
  await use('token');
  const { pathname, searchParams } = new URL(explorer.requests.at(-1)!.url, explorer.url);
  expect([pathname, searchParams.get('token_address')?.toLowerCase(), searchParams.get('apiKey')]).toEqual([
    '/v0/',
    TOKEN.toLowerCase(),
    'explorer-key',
  ]);
  expect(await use('subscription add')).toMatch(/reached its limit of 1 subscription\./);
  const { tokenAddress: _, ...coin } = payment({ tokenType: 'COIN', tokenSymbol: null, value: '7'.padEnd(19, '0') });
  await deliver(coin);
  await discord.until('the alert is posted', () =>
    discord.messages(CHANNEL).some(({ visibleTo }) => visibleTo === null),
  );
  const alert = JSON.stringify(discord.messages(CHANNEL).filter(({ visibleTo }) => visibleTo === null));
  expect(alert).toContain('7 BELL');
  expect(alert).toContain('https://explorer.example/tx/0x');
});
