import { html, nothing, type TemplateResult } from 'lit-html';
import type { PageAction } from '../protocol.ts';
import { act, button, check, labeled } from './controls.ts';
import type { Model } from './model.ts';
import { perform } from './requests.ts';
import { draw } from './screen.ts';
import { keep } from './session.ts';

const draft = {
  kind: 'erc20',
  from: 'Alice',
  to: 'Treasury',
  customFrom: '',
  customTo: '',
  amount: '',
  token: 'dollar',
};
keep('send', () => draft, Object.assign.bind(null, draft) as (kept: typeof draft) => void);

const KINDS = {
  native: 'Native coin',
  internal: 'Native coin, through a contract',
  erc20: 'ERC-20 token',
  erc721: 'ERC-721 NFT',
  erc1155: 'ERC-1155 items',
};

const SPECIAL: [label: string, meaning: string, action: PageAction][] = [
  ['Swap', 'Treasury pays HUSD and receives BELL in one transaction.', { do: 'swap', from: 'Treasury' }],
  ['Burst of 100', '100 transfers of all kinds in one block.', { do: 'burst', count: 100 }],
  ['NFT sweep', '20 NFTs from Market in one transaction.', { do: 'sweep', from: 'Market', to: 'Treasury', count: 20 }],
  [
    'Identical transfers',
    'Two identical transfers in one transaction: one alert, counted ×2.',
    { do: 'identical-transfers', from: 'Carol', to: 'Treasury' },
  ],
  [
    'ERC-1155 batch',
    'Several items in one transfer.',
    { do: 'transfer', kind: 'erc1155', from: 'Whale', to: 'Treasury', batch: true },
  ],
  [
    'Huge token ID',
    'An NFT whose ID exceeds 2^53.',
    { do: 'transfer', kind: 'erc721', from: 'Alice', to: 'Treasury', token: 'names' },
  ],
  ['Mint', 'New HUSD for Treasury.', { do: 'mint', to: 'Treasury' }],
  ['Burn', 'Treasury destroys HUSD.', { do: 'burn', from: 'Treasury' }],
  [
    'Look-alike address',
    'Dust from an address that looks like Payroll’s.',
    { do: 'lookalike', like: 'Payroll', to: 'Treasury' },
  ],
  [
    'Fake HUSD',
    'Another token with the name and symbol of HUSD.',
    { do: 'transfer', kind: 'erc20', token: 'fake', from: 'Bob', to: 'Treasury' },
  ],
  [
    'Hostile token name',
    'A name full of Markdown, links and mentions.',
    { do: 'transfer', kind: 'erc20', token: 'hostile', from: 'Treasury', to: 'Bob' },
  ],
];

export function sendView({ world }: Model): TemplateResult {
  return html`${formView(world)}
    <h3>One click</h3>
    <ul class="breakages">
      ${SPECIAL.map(
        ([label, meaning, action]) => html`<li><span><b>${label}</b><small>${meaning}</small></span>
          ${button('Send', act(action), { about: label })}</li>`,
      )}
    </ul>
    <h3>Automatic</h3>
    ${check('Everyday transfers', world.traffic, (on) => void perform({ do: 'traffic', on }), 'Each kind once, 3 s apart; then one every 45 s.')}`;
}

function formView(world: Model['world']): TemplateResult {
  const tokens = draft.kind === 'erc20' ? ['dollar', 'bell'] : draft.kind === 'erc721' ? ['keys', 'names'] : [];
  const set = (name: keyof typeof draft) => (event: Event) => {
    draft[name] = (event.target as HTMLInputElement).value;
    if (name === 'kind') draft.token = draft.kind === 'erc721' ? 'keys' : 'dollar';
    draw();
  };
  const options = (choices: [value: string, label: string][], chosen: string): TemplateResult[] =>
    choices.map(([value, label]) => html`<option value=${value} ?selected=${value === chosen}>${label}</option>`);

  function party(label: string, name: 'from' | 'to', custom: 'customFrom' | 'customTo'): TemplateResult {
    const wallets = Object.keys(world.wallets).map((wallet): [string, string] => [wallet, wallet]);
    const choices = options([...wallets, ['other', 'Another…']], draft[name]);
    const other = html`<input id="send-${custom}" required pattern="0x[0-9a-fA-F]{40}" placeholder="0x…" title="0x and 40 hex digits"
      autocomplete="off" .value=${draft[custom]} @input=${set(custom)}>`;
    return html`${labeled(label, `send-${name}`, html`<select id="send-${name}" @change=${set(name)}>${choices}</select>`)}
      ${draft[name] === 'other' ? labeled(`${label}, address`, `send-${custom}`, other) : nothing}`;
  }

  const tokenChoices = tokens.map((token): [string, string] => [token, world.tokens[token as 'dollar'].name]);
  const token = html`<select id="send-token" @change=${set('token')}>${options(tokenChoices, draft.token)}</select>`;
  const amount = html`<input id="send-amount" inputmode="decimal" placeholder="a small one" pattern="[0-9]+([.][0-9]+)?"
    title="a number like 12.5" autocomplete="off" .value=${draft.amount} @input=${set('amount')}>`;
  return html`<form class="send-form" @submit=${onSend}>
    ${labeled('Kind', 'send-kind', html`<select id="send-kind" @change=${set('kind')}>${options(Object.entries(KINDS), draft.kind)}</select>`)}
    ${party('From', 'from', 'customFrom')}
    ${party('To', 'to', 'customTo')}
    ${tokens.length > 0 ? labeled('Token', 'send-token', token) : nothing}
    ${draft.kind === 'erc721' ? nothing : labeled('Amount', 'send-amount', amount)}
    <button class="button primary" type="submit">Send</button>
  </form>`;
}

function onSend(event: SubmitEvent): void {
  event.preventDefault();
  const kind = draft.kind as keyof typeof KINDS;
  const party = (name: 'from' | 'to'): string =>
    draft[name] === 'other' ? (name === 'from' ? draft.customFrom : draft.customTo) : draft[name];
  const amount = kind !== 'erc721' && draft.amount.trim() !== '' ? { amount: draft.amount.trim() } : {};
  const token = kind === 'erc20' || kind === 'erc721' ? { token: draft.token as 'dollar' | 'keys' } : {};
  void perform({ do: 'transfer', kind, from: party('from'), to: party('to'), ...amount, ...token });
}
