/** The panel at the right: what moves on the chain, what is watched, and what is broken. */
import { html, nothing, type TemplateResult } from 'lit-html';
import { icon } from './avatar.ts';
import { act, button, check } from './controls.ts';
import { journeysView, tally } from './journey.ts';
import { breakView } from './misfortunes.ts';
import { addressName, type Known, known } from './model.ts';
import { attempt, draw, drawAtOnce, perform, say, type Tab, ui } from './screen.ts';

const tabs: Record<Tab, string> = { events: 'Events', send: 'Send', watch: 'Watch', break: 'Break' };

/** The whole panel; `close` closes it where it is a drawer. */
export function worldView(now: number, close: () => void): TemplateResult {
  const closed = ui.drawer !== 'world' && !ui.worldOpen;
  if (!known) return html``;
  return html`<aside class="world ${ui.drawer === 'world' ? 'open' : ''} ${closed ? 'closed' : ''}" aria-label="World">
    <header>
      <h2>World</h2>
      ${ui.drawer === 'world' ? html`<button class="icon" aria-label="Close" @click=${close}>${icon('close')}</button>` : nothing}
    </header>
    ${statusView(known)}
    <div role="tablist" aria-label="World" @keydown=${onTabKey}>
      ${(Object.keys(tabs) as Tab[]).map(
        (tab) => html`<button role="tab" id="tab-${tab}" aria-selected=${ui.tab === tab} aria-controls="world-panel"
          tabindex=${ui.tab === tab ? 0 : -1} @click=${() => openTab(tab)}>${tabs[tab]}</button>`,
      )}
    </div>
    <div role="tabpanel" id="world-panel" aria-labelledby="tab-${ui.tab}" tabindex="0">${panel(known, now)}</div>
  </aside>`;
}

function openTab(tab: Tab): void {
  ui.tab = tab;
  drawAtOnce(() => document.getElementById(`tab-${tab}`)?.focus());
}

function onTabKey(event: KeyboardEvent): void {
  const names = Object.keys(tabs) as Tab[];
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? names.length - 1 : 0;
  if (step === 0) return;
  event.preventDefault();
  openTab(names[(names.indexOf(ui.tab) + step) % names.length]!);
}

function panel(all: Known, now: number): TemplateResult {
  switch (ui.tab) {
    case 'events':
      return html`${tallyView()}${journeysView(now)}`;
    case 'send':
      return sendView(all);
    case 'watch':
      return watchView(all);
    case 'break':
      return breakView(all);
  }
}

function statusView({ world, discord }: Known): TemplateResult {
  const online = discord.sessions.some(({ connected }) => connected);
  const { state, pid, note } = world.bot;
  const bot =
    state === 'running'
      ? online
        ? `Bot runs (process ${pid})`
        : `Bot connects (process ${pid})`
      : state === 'stopping'
        ? 'Bot is stopping'
        : 'Bot is down';
  const chain = world.chain.kind === 'anvil' ? 'local chain (anvil)' : 'scripted chain';
  return html`<p class="status" role="status">
      <span class="lamp ${state !== 'running' ? 'bad' : online ? 'good' : 'soon'}" aria-hidden="true"></span>${bot}
      ${state === 'stopped' ? html`<small>${note}</small>` : nothing}
      <small>${chain}${discord.faults.length > 0 ? ` · ${discord.faults.length} fault${discord.faults.length > 1 ? 's' : ''} in Discord` : ''}</small>
    </p>
    ${world.chain.notice ? html`<p class="notice soft">${world.chain.notice}</p>` : nothing}`;
}

function tallyView(): TemplateResult {
  const { waiting, stored, told } = tally();
  return html`<p class="tally"><b>${stored}</b> events stored · <b>${told}</b> transactions told ·
    <b class=${waiting > 0 ? 'busy' : ''}>${waiting}</b> waiting</p>`;
}

/** What is set in the form of the tab "Send". */
const draft = {
  kind: 'erc20',
  from: 'Alice',
  to: 'Treasury',
  customFrom: '',
  customTo: '',
  amount: '',
  token: 'dollar',
};

function sendView({ world }: Known): TemplateResult {
  const tokens = draft.kind === 'erc20' ? ['dollar', 'bell'] : draft.kind === 'erc721' ? ['keys', 'names'] : [];
  const set = (name: keyof typeof draft) => (event: Event) => {
    draft[name] = (event.target as HTMLInputElement).value;
    if (name === 'kind') draft.token = draft.kind === 'erc721' ? 'keys' : 'dollar';
    draw();
  };
  const options = (choices: [value: string, label: string][], chosen: string): TemplateResult[] =>
    choices.map(([value, label]) => html`<option value=${value} ?selected=${value === chosen}>${label}</option>`);
  const party = (label: string, name: 'from' | 'to', custom: 'customFrom' | 'customTo'): TemplateResult => {
    const wallets = Object.keys(world.wallets).map((wallet): [string, string] => [wallet, wallet]);
    const choices = options([...wallets, ['other', 'Another…']], draft[name]);
    const other = html`<input id="send-${custom}" required pattern="0x[0-9a-fA-F]{40}" placeholder="0x…" title="0x and 40 hex digits"
      autocomplete="off" .value=${draft[custom]} @input=${set(custom)}>`;
    return html`${labelled(label, `send-${name}`, html`<select id="send-${name}" @change=${set(name)}>${choices}</select>`)}
      ${draft[name] === 'other' ? labelled(`${label}, address`, `send-${custom}`, other) : nothing}`;
  };
  const tokenChoices = tokens.map((token): [string, string] => [token, world.tokens[token as 'dollar'].name]);
  return html`<form class="send-form" @submit=${onSend}>
      ${labelled('Kind', 'send-kind', html`<select id="send-kind" @change=${set('kind')}>${options(Object.entries(kinds), draft.kind)}</select>`)}
      ${party('From', 'from', 'customFrom')}
      ${party('To', 'to', 'customTo')}
      ${tokens.length > 0 ? labelled('Token', 'send-token', html`<select id="send-token" @change=${set('token')}>${options(tokenChoices, draft.token)}</select>`) : nothing}
      ${
        draft.kind === 'erc721'
          ? nothing
          : labelled(
              'Amount',
              'send-amount',
              html`<input id="send-amount" inputmode="decimal" placeholder="a small one" pattern="[0-9]+([.][0-9]+)?" autocomplete="off"
                .value=${draft.amount} @input=${set('amount')}>`,
            )
      }
      <button class="button primary" type="submit">Send</button>
    </form>
    <h3>At once</h3>
    <div class="buttons">
      ${button('Burst of 100', act({ do: 'burst', count: 100 }))}
      ${button('Look-alike of Payroll', act({ do: 'lookalike', like: 'Payroll', to: 'Treasury' }))}
      ${button('Hostile token name', act({ do: 'hostile', from: 'Treasury', to: 'Bob' }))}
      ${button('Fake HUSD', act({ do: 'fake', from: 'Bob', to: 'Treasury' }))}
      ${button('Swap', act({ do: 'swap', from: 'Treasury' }))}
      ${button('Sweep of 20 NFTs', act({ do: 'sweep', from: 'Market', to: 'Treasury', count: 20 }))}
      ${button('Twins in one transaction', act({ do: 'twins', from: 'Carol', to: 'Treasury' }))}
      ${button('Batch of ERC-1155', act({ do: 'transfer', kind: 'erc1155', from: 'Whale', to: 'Treasury', batch: true }))}
      ${button('Huge token id', act({ do: 'transfer', kind: 'erc721', from: 'Alice', to: 'Treasury', token: 'names' }))}
      ${button('Mint', act({ do: 'mint', to: 'Treasury' }))}
      ${button('Burn', act({ do: 'burn', from: 'Treasury' }))}
    </div>
    ${check('Everyday transfers every few seconds', world.traffic, (on) => void perform({ do: 'traffic', on }))}`;
}

const kinds = {
  native: 'Native coin',
  internal: 'Native coin, through a contract',
  erc20: 'ERC-20 token',
  erc721: 'ERC-721 NFT',
  erc1155: 'ERC-1155 items',
};

function labelled(label: string, id: string, control: TemplateResult): TemplateResult {
  return html`<div class="pair"><label for=${id}>${label}</label>${control}</div>`;
}

function onSend(event: SubmitEvent): void {
  event.preventDefault();
  const kind = draft.kind as keyof typeof kinds;
  const party = (name: 'from' | 'to'): string =>
    draft[name] === 'other' ? (name === 'from' ? draft.customFrom : draft.customTo) : draft[name];
  const amount = kind !== 'erc721' && draft.amount.trim() !== '' ? { amount: draft.amount.trim() } : {};
  const token = kind === 'erc20' || kind === 'erc721' ? { token: draft.token as 'dollar' | 'keys' } : {};
  void perform({ do: 'transfer', kind, from: party('from'), to: party('to'), ...amount, ...token });
}

/** The address to add in the tab "Watch". */
let candidate = '';

function watchView({ world }: Known): TemplateResult {
  const known = [...Object.values(world.wallets), ...Object.values(world.tokens).map(({ address }) => address)];
  const others = known.filter((address) => !world.watched.includes(address));
  const onAdd = (event: SubmitEvent): void => {
    event.preventDefault();
    const address = candidate;
    candidate = '';
    void perform({ do: 'watch', address });
  };
  return html`<p class="soft">The notification service sends events only for the addresses in its webhook, which are
      these. A subscription tells the bot in which channel they are told; both are needed.</p>
    <ul class="scope" aria-label="Watched addresses">
      ${world.watched.map(
        (address) => html`<li>${addressView(address)}
          ${button('Unwatch', act({ do: 'unwatch', address }))}</li>`,
      )}
    </ul>
    ${world.watched.length === 0 ? html`<p class="soft">Nothing is watched.</p>` : nothing}
    <form class="send-form" @submit=${onAdd}>
      ${labelled(
        'Watch another address',
        'watch-address',
        html`<input id="watch-address" required list="addresses" pattern="0x[0-9a-fA-F]{40}" placeholder="0x…" title="0x and 40 hex digits"
          autocomplete="off" .value=${candidate} @input=${(event: Event) => {
            candidate = (event.target as HTMLInputElement).value.trim();
          }}>`,
      )}
      <datalist id="addresses">${others.map((address) => html`<option value=${address} label=${addressName(address) ?? ''}></option>`)}</datalist>
      <button class="button primary" type="submit">Watch</button>
    </form>
    <h3>Wallets and tokens here</h3>
    <ul class="scope" aria-label="Addresses that are not watched">
      ${others.map(
        (address) => html`<li>${addressView(address)}
          ${button('Watch', act({ do: 'watch', address }))}</li>`,
      )}
    </ul>`;
}

function addressView(address: string): TemplateResult {
  const name = addressName(address) ?? 'An address';
  const copy = (): void =>
    void attempt(async () => {
      await navigator.clipboard.writeText(address);
      say(`${name}’s address was copied.`);
    });
  return html`<span><b>${name}</b>
    <button class="copy" title="Copy the address" aria-label="Copy ${name}, ${address}" @click=${copy}><code>${address}</code></button></span>`;
}
