import { ChannelType } from 'discord.js';
import { afterEach, describe, expect, it } from 'vitest';
import { forFile } from '../for-file.ts';
import { A, B, lower, seed, startWorld, TOKEN, textOf } from './world.ts';

const { harbor } = seed;
const world = await forFile(startWorld());
const FUSE = { ...world.services.settings.networks[0]!, name: 'fuse', title: 'Fuse', chainId: 122 };
afterEach(() => world.reset());
const all = () => world.store.subscriptions.list(harbor.id);
const use = (options: Record<string, string>) => world.use('subscription add', options);
const add = (options: Record<string, string>) => world.read('subscription add', options);
const edit = (options: Record<string, string>) => world.read('subscription edit', { subscription: B, ...options });
const preview = async (data: string | Buffer) => textOf(await world.bring(data));
const take = async (data: string | Buffer) => world.press(await world.bring(data), 'subscription:import');

describe('a pasted address', () => {
  it.each([`<${B}>`, `“${B}”,`, `\`${B}\``, `https://explorer.example/address/${B}`, `[Ops](https://e.example/${B})`])(
    'watches the one in %s',
    async (address) => {
      expect(await add({ address })).toContain(B);
      expect(await all()).toMatchObject([{ address: lower(B) }]);
    },
  );

  it.each([
    [`matic:${B}`, 'Polygon'],
    [`eip155:10:${B}`, 'OP Mainnet'],
    [`ethereum:${B}@999`, 'chain 999'],
  ])('names the network of %s', async (address, network) => {
    const warning = `⚠️ This names ${network}.`;
    expect(await add({ address })).toContain(warning);
    expect(await add({ address })).toMatch(/already watches[\s\S]*⚠️ This names/);
    expect(await world.read('label set', { address, name: 'Ops' })).toContain(network);
    expect(await edit({ counterparties: address.replace(B, A) })).toContain(warning);
    expect(await world.read('activity', { address })).toContain(warning);
    const panel = await world.use('subscription edit', { subscription: B });
    const asked = await world.fillFrom(panel, 'subscription:lists', { counterparties: '', tokens: address });
    expect(textOf(asked)).toContain(warning);
    world.configure({ networks: [FUSE] });
    expect(await world.read('label set', { address, name: 'Ops' })).toContain('Alerts come only from Fuse.');
  });

  it('suggests the address that lacks its 0x', async () => {
    const digits = B.slice(2);
    expect(await add({ address: digits })).toContain(`without its \`0x\`. Did you mean \`0x${digits}\`?`);
    expect(await all()).toEqual([]);
  });

  it.each([`${B} ${A.slice(0, -3)}`, `${B},${A.slice(0, -2)}zz`, `${B}/${A}1`])(
    'names what is no complete address beside the one in %s',
    async (address) => {
      const named = `This also contains \`${address.slice(B.length + 1)}\`, which is not a complete address.`;
      expect(await add({ address })).toContain(named);
      expect(await world.read('label set', { address, name: 'Ops' })).toContain(named);
      expect(await world.read('activity', { address })).toContain(named);
      expect(await all()).toEqual([]);
      await add({ address: B });
      expect(await edit({ counterparties: address })).toContain(address.slice(B.length + 1, B.length + 31));
    },
  );

  it('takes the name of a known address instead, but never for another address', async () => {
    await world.name(B, 'Cold wallet');
    await world.name(TOKEN, A);
    await add({ address: 'cold Wallet' });
    expect(await all()).toMatchObject([{ address: lower(B), label: 'Cold wallet' }]);
    expect(await add({ address: 'Cold walet' })).toContain('Did you mean `Cold wallet`?');
    expect(await world.read('label set', { address: 'Cold wallet', name: 'Vault' })).toContain(B);
    await edit({ subscription: 'Vault', counterparties: `vault, ${A}` });
    expect((await all())[0]).toMatchObject({ filters: { counterparties: [lower(B), lower(A)] } });
  });
});

const SAFE = `address,name,chainId\n${A},Treasury,1\n${A},Treasury,137\n${B},Ops multisig,1\n`;
const ROTKI = `address,label,tags,blockchain\r\n${A},Treasury,"dao, cold",ETH\r\n${B},vitalik.eth,,ETH\r\nbc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq,Coins,,BTC\r\n`;
const EXPLORER = `"Address","Name Tag","Note"\n"${A}","Treasury","since 2021"\n"${B}","Ops multisig",""\n`;
const SHEET = `Wallet address\tAlias\n${A}\tTreasury\n${B}\tOps multisig\n`;
const WATCHED = [
  { address: lower(A), label: 'Treasury' },
  { address: lower(B), label: 'Ops multisig' },
];

describe('a list of another program', () => {
  it.each([
    ['Safe', SAFE],
    ['a block explorer', EXPLORER],
    ['a block explorer with CRLF and a byte order mark', `\ufeff${EXPLORER.replaceAll('\n', '\r\n')}`],
    ['a spreadsheet with semicolons', EXPLORER.replaceAll(',', ';')],
    ['a pasted spreadsheet', SHEET],
    ['a spreadsheet in UTF-16', Buffer.from(`\ufeff${SHEET}`, 'utf16le')],
    ['a spreadsheet in big-endian UTF-16', Buffer.from(`\ufeff${SHEET}`, 'utf16le').swap16()],
    ['no program, with names before', `Treasury: ${A}\n- Ops multisig ${B}\n`],
    ['no program, with names behind', `${A},Treasury\n\n${B},Ops multisig`],
    ['a pasted table without a header', `Treasury\t${A}\nOps multisig\t${B}`],
    ['a pasted table with other cells', `${A}\tTreasury\tPolygon\t1.5\n0.2\tBase\tOps multisig\t${B}\tnote`],
    ['a spreadsheet in UTF-16 without a byte order mark', Buffer.from(SHEET, 'utf16le')],
    ['a spreadsheet in another language', `Adresse;Name\r\n${A};Treasury\r\n${B};Ops multisig\r\n`],
    ['token holders', `"HolderAddress","Balance","Name"\n"${A}","12.5","Treasury"\n"${B}","1,234","Ops multisig"\n`],
    ['accounts with their types', `Address,Type,Name\n${A},EOA,Treasury\n${B},multisig,Ops multisig`],
    ['columns nearly called like ours', `Address,Kind,Label 1,Types\n${A},EOA,Treasury,x\n${B},Safe,Ops multisig,x`],
    [
      'Excel in the system’s encoding',
      Buffer.from(`Address;Alias;Größe\n${A};Treasury;\n${B};Ops multisig;`, 'latin1'),
    ],
    ['no program, with comments between', `${A} Treasury\n# Team\n\nOthers:\n${B} Ops multisig`],
    ['accounts by name', `Account,Public Key\nTreasury,${A}\nOps multisig,${B}`],
    ['a spreadsheet below its title', `Our wallets;\r\n;\r\nName;Address\r\nTreasury;${A}\r\nOps multisig;${B}`],
    ['no program, below a comment', `# Our wallets\n${A} Treasury\n${B} Ops multisig`],
    ['Excel with its separator', `sep=;\r\nAddress;Alias\r\n${A};Treasury\r\n${B};Ops multisig`],
    ['no program, with bars', `address|label\n${A}|Treasury\nOps multisig|${B}`],
    ['no program, with a third column', `address|label|chain\n${A}|Treasury|Polygon\n${B}|Ops multisig|Base`],
    ['a document', `| Name | Address |\n|---|:-:|\n| Treasury | ${A} |\n| Ops multisig | ${B} |`],
    ['wallets', `eth:${A} Treasury\nhttps://explorer.example/address/${B} Ops multisig`],
  ])('imports the list of %s after a preview with its names', async (_, data) => {
    const asked = await world.bring(data);
    expect(textOf(asked)).toMatch(/2 subscriptions to add[\s\S]*Treasury[\s\S]*Ops multisig/);
    expect(await all()).toEqual([]);
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject(WATCHED);
  });

  it('names the networks and the columns that it leaves out', async () => {
    expect(await preview(SAFE)).toContain('This names Ethereum (2), Polygon (1).');
    const text = await preview(EXPLORER);
    expect(text).toContain('Columns left out: `Note`.');
    expect(text).not.toContain('This names');
    world.configure({ networks: [FUSE, { ...FUSE, id: 1, chainId: null }] });
    expect(await preview(SAFE)).toMatch(/2 subscriptions to add[\s\S]*This names Ethereum \(2\)/);
    await take(A);
    expect(await all()).toMatchObject([{ network: null }]);
  });

  it('leaves out addresses of other chains and names that cannot be taken, and counts them', async () => {
    await world.name(TOKEN, 'treasury');
    const asked = await world.bring(ROTKI);
    expect(textOf(asked)).toMatch(/1 line with an address of another kind[\s\S]*1 name is left out/);
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject([
      { address: lower(A), label: null },
      { address: lower(B), label: 'vitalik.eth' },
    ]);
  });

  it('leaves out rows of another chain where the bot’s own is known, and says which', async () => {
    world.configure({ networks: [{ ...FUSE, title: 'Ethereum', chainId: 1 }] });
    const asked = await world.bring(SAFE.replace(`${B},Ops multisig,1`, `${B},Ops multisig,137`));
    expect(textOf(asked)).toMatch(
      /1 subscription to add[\s\S]*names Polygon \(2\), which this bot doesn’t watch.*Ethereum/,
    );
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject([WATCHED[0]]);
    for (const data of [
      `address,label,tags,blockchain\n${A},a,,POLYGON_POS\n${B},b,,Arbitrum One\n${TOKEN},c,,eth`,
      `matic:${A} a\neip155:42161:${B} b\neth:${TOKEN} c`,
      `Name;Network;Address\na;Polygon;${A}\nb;Arbitrum;${B}\nc;Ethereum;${TOKEN}`,
      `a\tPolygon\t${A}\nb\tArbitrum\t${B}\nc\tEthereum\t${TOKEN}`,
    ]) {
      const text = await preview(data);
      expect(text).toMatch(/1 subscription to add\S*\n.*\*\*c\*\*/);
      expect(text).toContain('names Polygon (1), Arbitrum One (1)');
      expect(text).not.toMatch(/names? (is|are) left out/);
    }
    world.configure({ networks: [FUSE, { ...FUSE, id: 1, name: 'main', title: 'Main', chainId: 1 }] });
    expect(await preview(`address,network\n${A},Polygon\n${B},main\n${TOKEN},Ethereum`)).toMatch(
      /2 subscriptions to add[\s\S]*\(Main\)[\s\S]*\(Main\)[\s\S]*names Polygon \(1\)/,
    );
  });

  it('takes names for addresses and tokens, and warns of a wallet as a token', async () => {
    await world.name(B, 'Cold wallet');
    await world.name(TOKEN, 'Our coin');
    world.replace({ explorer: { token: async () => ({ status: 'not-found' as const }) } });
    const asked = await world.bring(`address,channel,token\nCold wallet,#alerts,Our coin\n${A},#alerts,cold wallet`);
    expect(textOf(asked)).toMatch(new RegExp(`has no token at .*${B}`));
    await world.press(asked, 'subscription:import');
    expect(await all()).toMatchObject([
      { address: lower(B), token: lower(TOKEN) },
      { address: lower(A), token: lower(B) },
    ]);
  });

  it.each([
    [`${A}\n0x1234`, /Line 2[\s\S]*`0x1234`/],
    [`0x1234\n${A}`, 'Line 1'],
    [`address\nCold wallet\n${A}`, /Line 2[\s\S]*`Cold wallet`/],
    [`address,channel,balance\n${A},#alerts,maybe`, /Line 2[\s\S]*`maybe`/],
    [`${A.slice(2)}\n${B}`, 'Line 1'],
  ])('leaves out no line that may be an address or a choice: %j', async (data, named) => {
    const refused = await preview(data);
    expect(refused).toMatch(/1 line can’t be imported/);
    expect(refused).toMatch(named);
  });

  it.each([
    `{"addressBook":{"0x1":{"${A}":{"address":"${A}","name":"Treasury"}}}}`,
    `\ufeff[\r\n  { "address": "${A}", "name": "Treasury" }\r\n]`,
    `["${A}", "${B}"]`,
  ])('says what to do with the JSON %s', async (data) => {
    expect(await preview(data)).toMatch(/JSON file.*`address,name` per line/);
  });

  it('reads a list that begins with a link in brackets', async () => {
    const list = `[Treasury](https://explorer.example/address/${A})`;
    expect(await preview(list)).toContain('1 subscription to add');
  });
});

describe('a list pasted into /subscription add', () => {
  it('offers all of it with its names and the other options', async () => {
    const asked = await use({ address: `Treasury ${A} Ops multisig ${B}`, direction: 'incoming' });
    const shown = /2 addresses to watch[\s\S]*Treasury[\s\S]*Ops multisig[\s\S]*: incoming transfers[\s\S]*Dry run/;
    expect(textOf(asked)).toMatch(shown);
    expect(await all()).toEqual([]);
    await world.press(asked, 'subscription:group');
    expect(await all()).toMatchObject(WATCHED.map((one) => ({ ...one, direction: 'incoming' })));
  });

  it('says that it leaves out a name which another address has', async () => {
    await world.name(TOKEN, 'treasury');
    const asked = await add({ address: `Treasury ${A} Ops multisig ${B}` });
    expect(asked).toMatch(/Ops multisig[\s\S]*1 name is left out/);
    expect(asked).not.toContain('Treasury');
  });

  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => `0x${(n + 1).toString(16).padStart(40, '0')}`).join(' ');

  it('says how many it leaves out of a list of more than 200, and what to do', async () => {
    expect(await add({ address: many(203) })).toMatch(/3 more addresses are left out[\s\S]*subscription import/);
  });

  it('gives each address of a list a post in a forum, up to what Discord allows at once', async () => {
    const channel = world.makeChannel({ name: 'wallets', type: ChannelType.GuildForum });
    const asked = await use({ address: `Treasury ${A} Ops multisig ${B}`, channel });
    await world.press(asked, 'subscription:group');
    const posts = world.discord.state.guilds[0]!.channels.filter(({ parentId }) => parentId === channel);
    expect(posts.map(({ name: title }) => title)).toEqual(['Treasury · 0xcc95…6430', 'Ops multisig · 0x1ea1…68cE']);
    expect((await all()).map(({ channelId }) => channelId)).toEqual(posts.map(({ id }) => id));
    const again = await add({ address: `${A} ${B}`, channel });
    expect(again).toMatch(/Nothing new to watch[\s\S]*Already watched here \(2\)/);
    expect(await add({ address: many(27), channel })).toContain('2 more addresses are left out');
  });

  it('names what is cut or mistyped in a list, and takes it for no name', async () => {
    const [cut, typo] = [A.slice(0, 12), `${TOKEN.slice(0, -1)}g`];
    const asked = await use({
      address: `${A} ethereum:${B}@0xa, ${cut}; ${typo} (${TOKEN.slice(0, 6)}…${TOKEN.slice(-4)})`,
    });
    expect(textOf(asked)).toMatch(new RegExp(`2 addresses[^]*Skipped \\(2\\)[^]*\`${cut}\`: [^]*\`${typo}\`: `, 'i'));
    await world.press(asked, 'subscription:group');
    expect(await all()).toMatchObject([{ address: lower(A), label: null }, { address: lower(B) }]);
  });

  it('takes the text before a single address as its name', async () => {
    await add({ address: `Treasury: ${A}` });
    expect(await all()).toMatchObject([{ address: lower(A), label: 'Treasury' }]);
  });
});

describe('an amount as people write it', () => {
  it.each([
    ['1k', '1000'],
    ['1.5M', '1500000'],
    ['10 k', '10000'],
    ['1.5 M', '1500000'],
    ['1_000', '1000'],
  ])('reads %s', async (minimum, amount) => {
    await add({ address: A, minimum });
    expect(await all()).toMatchObject([{ minimum: amount }]);
  });

  it.each([
    ['100 ETH', 'ETH'],
    ['eth 100', 'ETH'],
    ['100 $ETH', 'ETH'],
    ['100 M', 'M'],
  ])('takes %s as the minimum of the token %s', async (minimum, nativeSymbol) => {
    world.configure({ nativeSymbol });
    await add({ address: A, minimum });
    expect(await all()).toMatchObject([{ minimum: null, filters: { minimums: { native: '100' } } }]);
  });

  it.each([
    ['10pm to 7am', '22:00-07:00'],
    ['22.00-07.30', '22:00-07:30'],
    ['10pm-7am', '22:00-07:00'],
    ['10:30 p.m. – 12am', '22:30-00:00'],
  ])('reads the hours %s', async (quiet, hours) => {
    await world.subscribe();
    await edit({ subscription: A, quiet });
    expect(await all()).toMatchObject([{ quiet: hours }]);
  });
});
