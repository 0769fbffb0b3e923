import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OptionInput } from '../../sandbox/discord/index.ts';
import { LANGUAGES, type Language, translator, wordingsOf } from '../../src/languages/index.ts';
import { defined } from '../commands/defined.ts';
import { A, B, isPrivate, seed, startWorld, TOKEN, textOf } from '../commands/world.ts';
import { shownIn } from '../discord/shown.ts';
import { forFile } from '../for-file.ts';
import { startUpstream } from '../upstream/server.ts';

const { harbor } = seed;
const TOKEN_RECORD = { contractAddress: TOKEN, name: 'GoodDollar', symbol: 'G$', type: 'ERC-20', totalSupply: '5' };
const ROWS = Array.from({ length: 7 }, (_, index) => ({ provider: `Provider ${index}`, planName: 'Free', price: '0' }));

const upstream = await forFile(
  startUpstream(({ url }) => {
    if (url.includes('getToken')) return { body: { status: '1', message: 'OK', result: TOKEN_RECORD } };
    if (url.includes('/categories')) return { body: ['apis', 'wallets'] };
    return { body: url.includes('/rows') ? ROWS : [] };
  }),
);
const { url } = upstream;
const world = await forFile(
  startWorld({
    environment: { NOTIFICATION_URL: url, EXPLORER_API_URL: url, DISCOVERY_URL: url },
  }),
);

const settle = (locale: string) => world.discord.act({ do: 'guild.update', guildId: harbor.id, locale });

describe('the reader’s language', () => {
  beforeEach(() => void settle('fr'));
  afterEach(() => void settle('en-US'));

  it('replies in private in the person’s own language', async () => {
    world.speak('ja', seed.mia);
    const answer = await world.use('help', {}, { as: seed.mia });
    const text = textOf(answer);
    expect(answer).toSatisfy(isPrivate);
    expect(text).toContain(translator('ja')('help.title'));
    const { token } = wordingsOf('ja');
    expect(text).toContain(token!.description);
  });

  it('replies in public in the server’s language, and gives people a copy in theirs', async () => {
    world.speak('de', seed.mia);
    const found = await world.use('provider search', { category: 'apis' }, { as: seed.ada });
    expect(textOf(found)).toContain('7 fournisseurs · page 1 sur 2');
    const copy = await world.press(found, 'provider:page:apis:1', { as: seed.mia });
    expect(textOf(copy)).toContain('7 Anbieter · Seite 2 von 2');
    world.speak('ja');
    const turned = await world.press(found, 'provider:page:apis:1', { as: seed.ada });
    expect(textOf(turned)).toContain('7 fournisseurs · page 2 sur 2');
  });

  it('refuses in the person’s own language, whatever the reason', async () => {
    world.speak('de', seed.mia);
    const refused = await world.use('status', {}, { as: seed.mia });
    expect(textOf(refused)).toContain('**Server verwalten**');
    const misspelt = await world.use('token', { address: '0x' }, { as: seed.mia });
    expect(textOf(misspelt)).toBe(translator('de')('address.form'));
  });

  it('posts alerts in the server’s language in Discord, unless another is chosen', async () => {
    const reported = async (): Promise<string> => {
      await world.use('subscription test', { subscription: B });
      return shownIn(world.discord.messages(harbor.whales).at(-1)!.message)[0]!.text;
    };
    await world.use('subscription add', { address: B, channel: harbor.whales });
    expect(await reported()).toContain(translator('fr')('alert.transaction'));
    await world.store.guilds.changeSettings(harbor.id, { language: 'de' });
    expect(await reported()).toContain(translator('de')('alert.transaction'));
    await world.store.guilds.changeSettings(harbor.id, { language: null });
  });

  it('prefers the language of the server’s settings to that of its Discord', async () => {
    await world.store.guilds.changeSettings(harbor.id, { language: 'es-ES' });
    expect(await world.read('provider categories')).toContain('2 categorías');
    await world.store.guilds.changeSettings(harbor.id, { language: null });
  });
});

/** Something right for each option that a command may have; what is not here is left out. */
const GIVEN: Record<string, OptionInput> = {
  address: A,
  addresses: A,
  webhook: 'b'.repeat(24),
  subscription: '1',
  transaction: `0x${'a'.repeat(64)}`,
  category: 'apis',
  name: 'Treasury',
  label: 'Treasury',
  duration: '1h',
};

const usable = [...defined].filter(([, { options }]) =>
  options.every(({ name, required }) => !required || GIVEN[name]),
);

describe.each(Object.keys(LANGUAGES) as Language[])('in %s', (language) => {
  it('sends replies that Discord accepts to every command', async () => {
    world.speak(language);
    settle(language);
    world.logged.length = 0;
    for (const [path, { options: all }] of usable) {
      const options = Object.fromEntries(all.flatMap(({ name }) => (GIVEN[name] ? [[name, GIVEN[name]]] : [])));
      expect([path, (await world.use(path, options)).status]).toEqual([path, 'acknowledged']);
    }
    expect(world.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
  });
});
