import type { APIMessageTopLevelComponent } from 'discord.js';
import fc from 'fast-check';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { seed, startDiscord } from '../../sandbox/discord/index.ts';
import { renderAgain, renderAlerts, renderPlain } from '../../src/discord/render/alert.ts';
import { renderDigest } from '../../src/discord/render/digest.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Alert, Warning } from '../../src/domain/alert.ts';
import { parseEvent } from '../../src/domain/event.ts';
import type { AlertStyle, Perspective } from '../../src/domain/subscription.ts';
import { alertOf, matchOf } from '../discord/alerts.ts';
import { textsOf } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { newDelivery } from '../new-delivery.ts';
import { ALERTS, ALICE, openPipeline, payment, TREASURY, USDC } from '../pipeline/harness.ts';
import { bodies, events } from './bodies.ts';
import { NAUGHTY } from './naughty.ts';

const WATCHED: AddressText[] = [TREASURY, ALICE, USDC];

const discord = await forFile(startDiscord({ limits: 'none' }));
const pipeline = await forFile(openPipeline());
for (const address of WATCHED) await pipeline.watch(address, ALERTS);

const matches = fc.array(
  fc.record({
    subscription: fc.nat(),
    perspective: fc.constantFrom<Perspective>('incoming', 'outgoing', 'self', 'token'),
    address: fc.constantFrom(...WATCHED),
    label: fc.option(fc.constantFrom(...NAUGHTY)),
    mention: fc.option(fc.constantFrom(seed.harbor.manager, seed.harbor.watchers)),
  }),
  { minLength: 1, maxLength: 30 },
);
const warnings: fc.Arbitrary<Warning[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('look-alike' as const),
      address: fc.constantFrom(...WATCHED),
      like: fc.constantFrom(...WATCHED),
      label: fc.option(fc.constantFrom(...NAUGHTY)),
    }),
    fc.record({
      kind: fc.constant('imitation' as const),
      symbol: fc.constantFrom(...NAUGHTY),
      genuine: fc.option(fc.constantFrom(...WATCHED)),
    }),
    fc.constant({ kind: 'uncataloged' as const }),
    fc.constant({ kind: 'unchecked' as const }),
    fc.record({ kind: fc.constant('late' as const), ms: fc.nat() }),
  ),
  { maxLength: 8 },
);
const labels = fc.dictionary(fc.constantFrom(...WATCHED), fc.constantFrom(...NAUGHTY));
/** Few transactions, so that some alerts share one. */
const hashes = fc.option(fc.constantFrom(...['a', 'b'].map((digit) => `0x${digit.repeat(64)}`)), { nil: undefined });
const alerts = fc
  .array(
    fc.record({
      event: events,
      txHash: hashes,
      matches,
      count: fc.constantFrom(1, 2, 1_000),
      reorganized: fc.boolean(),
      warnings: fc.oneof({ weight: 3, arbitrary: fc.constant<Warning[]>([]) }, warnings),
      labels,
      style: fc.constantFrom<AlertStyle>('compact', 'full'),
      isCataloged: fc.boolean(),
      isSignificant: fc.boolean(),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((list): Alert[] =>
    list.flatMap(({ event, txHash, ...rest }, id) => {
      const shared = txHash ? { txHash } : {};
      const parsed = parseEvent(JSON.stringify({ ...payment(), ...event, ...shared }));
      if (!parsed.ok) return [];
      const matches = rest.matches.map((match) => ({ ...matchOf(TREASURY, 'incoming'), ...match }));
      return [alertOf(parsed.event.transfer, { ...rest, id, matches })];
    }),
  )
  .filter((list) => list.length > 0);

async function expectAccepted(payload: object): Promise<void> {
  const response = await request(`${discord.apiUrl}/v10/channels/${seed.harbor.alerts}/messages`, {
    method: 'POST',
    headers: { authorization: `Bot ${discord.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(payload),
  });
  expect(response.statusCode, await response.body.text()).toBe(200);
}

it('renders messages that Discord accepts and that mention only the chosen roles, whatever the chain contains', async () => {
  await fc.assert(
    fc.asyncProperty(alerts, fc.constantFrom('https://explorer.example', undefined), async (list, explorerUrl) => {
      const settings = { explorerUrl, nativeSymbol: undefined };
      const { payload, used } = renderAlerts(settings, list, 'ABCDEFGHIJ', 1_750_000_000_000);
      expect(used).toBeGreaterThan(0);
      expect(payload.allowed_mentions?.parse).toEqual([]);
      await expectAccepted(payload);
      const again = renderAgain(settings, list.slice(0, used), 'ABCDEFGHIJ', JSON.stringify(payload));
      expect(again.used).toBe(used);
      await expectAccepted(again.payload);
      await expectAccepted(renderPlain(list[0]!, 'ABCDEFGHIJ'));
      await expectAccepted((await renderDigest(settings, list, 'ABCDEFGHIJ')).payload);
      const everything = Array.from({ length: 20 }, () => list).flat();
      await expectAccepted((await renderDigest(settings, everything, 'ABCDEFGHIJ')).payload);
    }),
    { numRuns: 75 },
  );
});

it('fits a transaction of any size into three messages, and none into an embed that is too long or has too many fields', async () => {
  const txHash = `0x${'a'.repeat(64)}`;
  const token = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;
  const size = async (alerts: Alert[], explorerUrl?: string) => {
    const { payload, used } = renderAlerts({ explorerUrl, nativeSymbol: undefined }, alerts, 'ABCDEFGHIJ', 0);
    await expectAccepted(payload);
    return used;
  };
  const tokens = Array.from({ length: 5_000 }, (_, n) => alertOf({ txHash, token: token(n + 1) }));
  expect(await size(tokens)).toBe(5_000);
  const few = await size(tokens.slice(0, 25));
  expect(few).toBeGreaterThan(13);
  expect(few).toBeLessThan(25);
  // With the longest remark, that such a token may claim what it likes.
  const claimed = tokens.slice(0, 60).map((alert): Alert => {
    const matches = [{ ...matchOf(TREASURY, 'outgoing'), isKnown: false }];
    return { ...alert, matches, transfer: { ...alert.transfer, from: TREASURY, to: alert.transfer.token } };
  });
  for (let count = 1; count <= claimed.length; count++) {
    let left = claimed.slice(0, count);
    for (let messages = 0; messages < 3 && left.length > 0; messages++)
      left = left.slice(await size(left, 'https://explorer.example'));
    expect(left, `of ${count}`).toEqual([]);
  }
});

it.each(NAUGHTY.map((name, index) => [index, name]))(
  'shows the hostile name %i harmlessly or not at all',
  async (_index, name) => {
    const parsed = parseEvent(JSON.stringify(payment({ tokenName: name, tokenSymbol: name })));
    if (!parsed.ok) throw new Error(parsed.reason);
    const matches = [{ ...matchOf(TREASURY, 'incoming'), label: String(name) }];
    const alert = (style: AlertStyle, isCataloged: boolean): Alert =>
      alertOf(parsed.event.transfer, { matches, style, isCataloged, isSignificant: isCataloged });
    const none = { explorerUrl: undefined, nativeSymbol: undefined };
    for (const isCataloged of [true, false])
      for (const style of ['compact', 'full'] as const) {
        const { payload } = renderAlerts(none, [alert(style, isCataloged)], 'ABCDEFGHIJ', 0);
        const [embed] = payload.embeds ?? [];
        // The rest of the markup is in code, or in a title or footer, where Discord does not interpret it.
        const marked = embed
          ? [embed.description, ...embed.fields!.map(({ value }) => value)]
          : textsOf(payload.components as APIMessageTopLevelComponent[]);
        expect(JSON.stringify(payload)).not.toMatch(/@everyone|@here|evil|discord\.gg|\u202e|\u200b/i);
        expect(marked.join('\n').replace(/`[^`]*`/g, '')).not.toMatch(/<[@#/:t]|\]\(|javascript:/i);
        await expectAccepted(payload);
      }
  },
);

it('routes whatever the bodies are, and quarantines exactly those that cannot be parsed', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(bodies, { minLength: 1, maxLength: 8 }), async (list) => {
      for (const body of list) {
        if (!parseEvent(body.toString()).ok) refused++;
        await pipeline.store.inbox.append([newDelivery(body, { receivedAt: pipeline.clock.now() })]);
      }
      await pipeline.receive(payment());
      await pipeline.routed();
      expect((await pipeline.backlog()).quarantine.rows).toBe(refused);
    }),
    { numRuns: 40 },
  );
});
