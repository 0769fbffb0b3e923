import type { lookup as dnsLookup } from 'node:dns';
import { createServer } from 'node:http';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEgress, isRange } from '../../services/notification/egress.ts';
import { listen } from '../listen.ts';
import { limitedSurroundings } from './harness.ts';

describe('private addresses', () => {
  it('permits public addresses, and no private or invalid ones', () => {
    const forbidden = [
      ['127.0.0.1', '10.1.2.3', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '0.0.0.0'],
      ['224.0.0.1', '255.255.255.255'],
      ['::1', '::', 'fe80::1', 'fd00::1', 'ff02::1'],
      ['::ffff:127.0.0.1', '::ffff:7f00:1', '::7f00:1', '64:ff9b::7f00:1', '2002:7f00:1::'],
      ['not an address'],
    ].flat();
    const open = ['1.1.1.1', '172.32.0.1', '2606:4700:4700::1111', '::ffff:1.1.1.1'];
    expect([...forbidden, ...open].filter(createEgress([]).permits)).toEqual(open);
  });

  it('permits the private addresses and ranges that are allowed, and no others', () => {
    const allowed = createEgress(['127.0.0.1', '10.0.0.0/24', 'fd00::/64']);
    const inside = ['127.0.0.1', '10.0.0.7', '::ffff:127.0.0.1', 'fd00::7'];
    const outside = ['127.0.0.2', '10.0.1.7', 'fd01::7'];
    expect([...inside, ...outside].filter(allowed.permits)).toEqual(inside);
  });

  it('knows an address or a range from anything else', () => {
    const ranges = ['127.0.0.1', '10.0.0.0/8', 'fd00::/64'];
    expect([...ranges, '127.0.0.1/33', 'localhost', '10.0.0.0/8/8', '1.2.3'].filter(isRange)).toEqual(ranges);
  });
});

describe('names', () => {
  /** A server on this machine, and a guard that may reach 127.0.0.2 alone, with names that lead where a test says. */
  async function start() {
    const server = createServer((_, response) => response.writeHead(200, { connection: 'close' }).end());
    const port = await listen(server, '0.0.0.0');
    onTestFinished(() => void server.close());
    let leadsTo: string[] = [];
    const lookup = (_host: string, _options: object, done: (error: null, found: object[]) => void) =>
      done(
        null,
        leadsTo.map((address) => ({ address, family: 4 })),
      );
    const agent = createEgress(['127.0.0.2'], lookup as unknown as typeof dnsLookup).agent();
    onTestFinished(() => agent.close());
    return async (...addresses: string[]) => {
      leadsTo = addresses;
      const url = `http://receiver.example:${port}`;
      return request(url, { dispatcher: agent }).then(
        async ({ statusCode, body }) => {
          await body.dump();
          return statusCode;
        },
        ({ code }: { code: string }) => code,
      );
    };
  }

  it('refuses a name as soon as it resolves to a private address', async () => {
    const ask = await start();
    expect(await ask('127.0.0.2')).toBe(200);
    expect(await ask('127.0.0.1')).toBe('ADDRESS_FORBIDDEN');
    expect(await ask('169.254.169.254')).toBe('ADDRESS_FORBIDDEN');
    expect(await ask('127.0.0.2')).toBe(200);
  });

  it('connects only to the permitted address of a name with several', async () => {
    const ask = await start();
    expect(await ask('127.0.0.1', '127.0.0.2')).toBe(200);
    expect(await ask('127.0.0.1', '10.0.0.1')).toBe('ADDRESS_FORBIDDEN');
  });
});

describe('deliveries to private addresses', () => {
  const here = limitedSurroundings({ watches: false, webhookAllow: [] });
  const watchByName = () =>
    here.services.watch(here.receiver.url.replace('127.0.0.1', 'localhost'), [here.chain.wallets.Treasury]);
  const firstAttempt = async () => {
    const answered = here.services.step(({ type }) => type === 'answered');
    await here.pay(1n);
    await here.scan();
    return await answered;
  };

  it('never connects to a name that leads to a private address', async () => {
    await watchByName();
    expect(await firstAttempt()).toMatchObject({ status: null, error: 'ADDRESS_FORBIDDEN' });
    expect(here.receiver.received).toEqual([]);
  });

  it('connects to a name whose address is allowed', async () => {
    await here.restart({ webhookAllow: ['127.0.0.1', '::1'] });
    await watchByName();
    expect(await firstAttempt()).toMatchObject({ status: 200 });
  });

  it('never connects to a private address, even one that was stored while it was allowed', async () => {
    await here.restart({ webhookAllow: ['127.0.0.1'] });
    await here.watch();
    await here.restart();
    expect(await firstAttempt()).toMatchObject({ status: null, error: 'ADDRESS_FORBIDDEN' });
    expect(here.receiver.received).toEqual([]);
  });

  it('refuses a private address when the webhook is created', async () => {
    for (const host of ['127.0.0.1', '[::1]', '2130706433', '0x7f.1', '169.254.169.254']) {
      const body = { projectId: 'harbor', webhookUrl: `http://${host}/hook`, eventType: 'ALL' };
      const errorMessage = expect.stringContaining('WEBHOOK_ALLOW');
      expect(await here.call('POST', '/webhook', body), host).toMatchObject({ status: 400, body: { errorMessage } });
    }
  });
});
