import { beforeEach, describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { startWebhookService } from './webhook-service.ts';
import { A, B, buttonsOf, lower, menuOf, RECEIVER_URL, type Shown, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor, orchid } = seed;
const ID = '64b7f2a1c3d4e5f6a7b8c9d0';
const service = await forFile(startWebhookService());
const world = await forFile(startWorld({ environment: { NOTIFICATION_URL: service.url } }));
beforeEach(async () => {
  await world.reset();
  await world.store.projects.chooseWebhook(harbor.id, 0, null);
  service.reset();
  // By then, the cached responses of the service have expired.
  world.clock.advance(60_000);
});
const add = (options: Record<string, string> = {}) => world.use('subscription add', { address: A, ...options });
const webhookButtons = (shown: Shown) => buttonsOf(shown).filter((id) => id.startsWith('webhook:'));

describe('/subscription add', () => {
  it('shows the only events that the webhook sends', async () => {
    service.hook(ID, RECEIVER_URL, [A], 'ERC20');
    expect(textOf(await add())).toContain('It only sends `ERC20` events');
  });

  it('adds the address to the webhook in the same step, and reports that alerts come where it is there already', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [B]);
    service.hook('other', 'https://other.example', [A]);
    const answer = await add();
    expect(textOf(answer)).toContain(`Added 1 address to webhook \`${ID}\``);
    expect(webhookButtons(answer)).toEqual([]);
    expect([...hook.addresses]).toEqual([lower(B), lower(A)]);
    const again = await add({ channel: harbor.whales });
    expect(textOf(again)).toContain('✅ Alerts will come');
    expect(textOf(again)).not.toContain('One more step');
    expect(webhookButtons(again)).toEqual([]);
  });

  it('reads the webhook’s addresses once for several additions in a row', async () => {
    service.hook(ID, RECEIVER_URL, [A, B, TOKEN]);
    for (const address of [A, B, TOKEN]) expect(textOf(await add({ address }))).toContain('Alerts will come');
    const reads = () => service.requests.filter(({ url }) => url.startsWith('/webhook/addresses/'));
    expect(reads()).toHaveLength(1);
    world.clock.advance(31_000);
    await add({ channel: harbor.whales });
    expect(reads()).toHaveLength(2);
  });

  it('shows the manual steps when the service does not know the calls', async () => {
    service.hook(ID, RECEIVER_URL);
    for (const call of ['GET /webhook/addresses', 'POST /webhook/add-addresses']) service.unknown.add(call);
    const answer = await add();
    for (const shown of [answer, await world.press(answer, 'webhook:fill')])
      expect(textOf(shown)).toMatch(/Not added[\s\S]*Add the address to the webhook that posts here/);
  });

  it('asks once for the webhook’s ID if the service’s list has no IDs', async () => {
    const hook = service.hook(ID, RECEIVER_URL);
    service.options.showsIds = false;
    const asked = await world.press(await add(), 'webhook:fill');
    expect(textOf(asked)).toContain('doesn’t show the IDs');
    const done = await world.fillFrom(asked, 'webhook:id', { id: ID });
    for (const shown of [done, await add({ address: B })]) expect(textOf(shown)).toContain('✅ Alerts will come');
    expect([...hook.addresses]).toEqual([lower(A), lower(B)]);
  });

  it('lets a manager choose once between several webhooks, shown without invisible characters', async () => {
    service.hook('first', RECEIVER_URL, [], '\u202eLLA\u200b events');
    const second = service.hook('second', RECEIVER_URL, [], `${'a'.repeat(200)}`);
    service.hook('third', RECEIVER_URL, [], '   ');
    const asked = await world.press(await add(), 'webhook:fill');
    expect(textOf(asked)).toContain('Several webhooks post here');
    const described = menuOf(asked).options.map(({ description }) => description);
    expect(described).toEqual(['LLA events', `${'a'.repeat(32)}…`, 'unknown events']);
    expect(textOf(await world.choose(asked, ['second']))).toContain('✅ Alerts will come');
    await add({ address: B });
    expect([...second.addresses]).toEqual([lower(A), lower(B)]);
  });

  it('creates the webhook with everything that is watched here if none posts here', async () => {
    await world.subscribe({ address: lower(B) });
    const answer = await add();
    expect(textOf(answer)).toContain('No webhook posts here yet');
    expect(textOf(await world.press(answer, 'webhook:create'))).toContain('✅ Webhook created');
    const addresses = new Set([lower(B), lower(A)]);
    expect(service.hooks).toMatchObject([{ url: RECEIVER_URL, eventType: 'ALL', addresses }]);
  });

  it('offers to add what is watched to a created webhook whose ID the service does not show', async () => {
    service.options.showsIds = false;
    const done = await world.press(await add(), 'webhook:create');
    expect(textOf(done)).toContain('✅ Webhook created');
    expect(buttonsOf(done)).toContain('webhook:fill:all');
  });

  it('creates no second webhook on a second press', async () => {
    const offers = [await add(), await world.use('webhook list')];
    await Promise.all(offers.map((offer) => world.press(offer, 'webhook:create')));
    expect(service.hooks).toHaveLength(1);
  });

  it('refers to the bot’s operator in a server that does not manage the project', async () => {
    const answer = await world.use('subscription add', { address: A }, { in: orchid.lobby });
    expect(textOf(answer)).toContain('The bot’s operator needs to add the address');
    expect(JSON.stringify(answer)).not.toContain('receiver-token');
    expect(webhookButtons(answer)).toEqual([]);
    expect(service.requests).toEqual([]);
  });
});

describe('/subscription remove', () => {
  const remove = async () => {
    await world.subscribe();
    return world.press(await world.use('subscription remove', { subscription: A }), 'subscription:drop');
  };

  it('offers to remove the address from the webhook when nobody watches it anymore', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A, B]);
    const done = await remove();
    expect(textOf(done)).toContain('No other subscription needs the address');
    expect(textOf(await world.press(done, 'webhook:drain'))).toContain('Removed from the webhook');
    expect([...hook.addresses]).toEqual([lower(B)]);
  });

  it('removes the address from the chosen webhook where the service does not show the IDs', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A, B]);
    service.options.showsIds = false;
    expect(buttonsOf(await remove())).toEqual([]);
    await world.store.projects.chooseWebhook(harbor.id, 0, ID);
    expect(textOf(await world.press(await remove(), 'webhook:drain'))).toContain('Removed from');
    expect([...hook.addresses]).toEqual([lower(B)]);
  });

  it('reports that nothing was removed when the address already left the webhook', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A]);
    const offered = await remove();
    hook.addresses.clear();
    world.clock.advance(31_000);
    expect(textOf(await world.press(offered, 'webhook:drain'))).toContain('Nothing was removed');
  });

  it('keeps the address in the webhook while another subscription watches it, also in another server', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A]);
    const elsewhere = { guildId: orchid.id, channelId: orchid.lobby };
    const other = await world.subscribe(elsewhere);
    expect(buttonsOf(await remove())).toEqual([]);
    await world.store.subscriptions.remove(orchid.id, other.id);
    const offered = await remove();
    await world.subscribe(elsewhere);
    expect(textOf(await world.press(offered, 'webhook:drain'))).toContain('It stays in the webhook');
    expect(hook.addresses.size).toBe(1);
  });
});

describe('/webhook remove', () => {
  it('puts the removed addresses back on one press', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A, B]);
    const asked = await world.use('webhook remove', { webhook: ID, addresses: `${A} ${B}` });
    const done = await world.press(asked, 'webhook:confirm');
    expect(hook.addresses.size).toBe(0);
    expect(textOf(await world.press(done, 'webhook:restore'))).toContain('Added 2 addresses');
    expect([...hook.addresses]).toEqual([lower(A), lower(B)]);
  });
});

describe('an address that no webhook has', () => {
  /** The person's subscription to B in the same channel, and one that the webhook lacks. */
  const lacking = async () => {
    const hook = service.hook(ID, RECEIVER_URL);
    await world.subscribe({ address: lower(B), label: 'Ops', createdBy: seed.noa });
    const { id } = await world.subscribe({ label: 'Treasury' });
    return { hook, id };
  };

  it('is marked in the panel, the list and every edit, with the button, until that is fixed', async () => {
    const { hook, id } = await lacking();
    const warning = '⚠️ No webhook that posts here includes the address';
    const use = (name: string, options = {}) =>
      world.use(`subscription ${name}`, { subscription: 'Treasury', ...options });
    const edited = await use('edit', { minimum: '5' });
    const panel = await use('edit');
    await use('pause');
    for (const shown of [edited, panel, await use('resume')]) {
      expect(textOf(shown)).toContain(warning);
      expect(buttonsOf(shown)).toContain(`webhook:fill:${id}`);
    }
    const list = await world.use('subscription list');
    expect(textOf(list).split(warning)).toHaveLength(3);
    const done = await world.press(panel, 'webhook:fill');
    expect(textOf(done)).toMatch(/⚙️ Treasury[\s\S]*✅ Alerts will come/);
    expect(textOf(done)).not.toContain('⚠️');
    expect(buttonsOf(done)).toEqual(buttonsOf(panel).filter((one) => !one.startsWith('webhook:')));
    await world.press(list, 'webhook:fill');
    expect([...hook.addresses]).toEqual([lower(A), lower(B)]);
    expect(await world.read('subscription list')).not.toContain('⚠️');
  });

  it('is added after an import only if it was imported', async () => {
    const { hook } = await lacking();
    world.clock.advance(1);
    const imported = await world.press(await world.bring(`address\n${TOKEN}`), 'subscription:import');
    await world.press(imported, 'webhook:fill');
    expect([...hook.addresses]).toEqual([lower(TOKEN)]);
  });
});

describe('many addresses', () => {
  const addresses = Array.from({ length: 250 }, (_, n) => `0x1${String(n).padStart(39, '0')}`);
  const file = `address,channel\n${addresses.map((one) => `${one},`).join('\n')}`;

  it('adds the addresses of an import to the webhook in batches, with progress', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [addresses[0]!]);
    const imported = await world.press(await world.bring(file), 'subscription:import');
    expect(textOf(imported)).toContain('249 of the addresses are in no webhook that posts here');
    const done = await world.press(imported, 'webhook:fill');
    const message = 'the outcome of the filling';
    await expect.poll(() => textOf(done), { message, timeout: 60_000 }).toContain('Added 249 addresses');
    expect(hook.addresses.size).toBe(250);
    const texts = done.reply!.history.map(({ message: shown }) => shown.embeds[0]?.title);
    expect(texts).toEqual(expect.arrayContaining([100, 200].map((n) => `Adding addresses: ${n} of 249…`)));
  });

  it('offers in /setup check to add missing addresses to the webhook', async () => {
    const hook = service.hook(ID, RECEIVER_URL, [A]);
    await world.subscribe();
    await world.subscribe({ address: lower(B) });
    const check = await world.use('setup check');
    expect(textOf(check)).toContain('1 watched address is not in any webhook');
    await world.press(check, 'webhook:fill:all');
    expect([...hook.addresses]).toEqual([lower(A), lower(B)]);
  });

  it('stops at a batch that fails and shows how many addresses were added', async () => {
    service.hook(ID, RECEIVER_URL);
    const imported = await world.press(await world.bring(file), 'subscription:import');
    service.options.most = 150;
    const failed = await world.press(imported, 'webhook:fill');
    await expect.poll(() => textOf(failed), { message: 'the outcome', timeout: 60_000 }).toContain('Not added');
    expect(textOf(failed)).toMatch(/denied access[\s\S]*100 of 250 addresses were added first/);
    const { entries } = await world.store.audit.page(harbor.id, 0, 1);
    expect(entries).toMatchObject([{ action: 'webhook.fill', detail: { addresses: addresses.slice(0, 100) } }]);
  });
});

describe('servers without a webhook', () => {
  it.each(['setup check', 'webhook list', 'setup project'])('offers in /%s to create the webhook', async (name) => {
    service.hook('other', 'https://other.example');
    const panel = async () => world.press(await world.use('setup check'), 'setup:receiver');
    const answer = name === 'setup project' ? await panel() : await world.use(name);
    expect(textOf(await world.press(answer, 'webhook:create'))).toContain('✅ Webhook created');
    expect(service.hooks.at(-1)!.url).toBe(RECEIVER_URL);
    expect(textOf(await panel())).not.toContain('Press **Create the webhook**');
  });

  it('offers the receiver URL behind its button when the service does not create webhooks', async () => {
    service.unknown.add('POST /webhook');
    const list = await world.use('webhook list');
    expect(JSON.stringify(list)).not.toContain('/hooks/');
    const failed = await world.press(list, 'webhook:create');
    expect(textOf(failed)).toContain('Webhook not created');
    expect(JSON.stringify(failed)).not.toContain('/hooks/');
    expect(textOf(await world.press(failed, 'setup:receiver'))).toContain(RECEIVER_URL);
  });
});
