/** The panel at the right: what moves on the chain, what is watched, and what is broken. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { FaultRule, FaultState } from '../../discord/control.ts';
import type { Act } from '../protocol.ts';
import { journeysView, tally } from './journey.ts';
import { addressName, channelOf, guildOf, type Known, known } from './model.ts';
import { addFault, attempt, change, clearFault, currentChannelId, draw, perform, say, type Tab, ui } from './screen.ts';

const tabs: Record<Tab, string> = { events: 'Events', send: 'Send', watch: 'Watch', break: 'Break' };
const MINUTE = 60_000;

/** The whole panel. */
export function worldView(now: number): TemplateResult {
  const closed = ui.drawer !== 'world' && !ui.worldOpen;
  if (!known) return html``;
  return html`<aside class="world ${ui.drawer === 'world' ? 'open' : ''} ${closed ? 'closed' : ''}" aria-label="World">
    <h2>World</h2>
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
  draw(() => document.getElementById(`tab-${tab}`)?.focus());
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
    state === 'running' ? (online ? `Bot runs (process ${pid})` : `Bot starts (process ${pid})`) : state === 'stopping' ? 'Bot is stopping' : 'Bot is down';
  const chain = world.chain.kind === 'anvil' ? 'local chain (anvil)' : 'scripted chain';
  return html`<p class="status" role="status">
      <span class="lamp ${state === 'running' && online ? 'good' : 'bad'}" aria-hidden="true"></span>${bot}
      ${state === 'stopped' ? html`<small>${note}</small>` : nothing}
      <small>${chain}${discord.faults.length > 0 ? ` · ${discord.faults.length} fault${discord.faults.length > 1 ? 's' : ''} in Discord` : ''}</small>
    </p>
    ${world.chain.notice ? html`<p class="soft">${world.chain.notice}</p>` : nothing}`;
}

function tallyView(): TemplateResult {
  const { waiting, stored, told } = tally();
  return html`<p class="tally"><b>${stored}</b> events stored · <b>${told}</b> transactions told ·
    <b class=${waiting > 0 ? 'busy' : ''}>${waiting}</b> waiting</p>`;
}

const act = (wish: Act) => (): void => void perform(wish);

function button(label: string, onClick: () => void, kind = 'secondary', disabled = false): TemplateResult {
  return html`<button type="button" class="button small ${kind}" ?disabled=${disabled} @click=${onClick}>${label}</button>`;
}

/** What is set in the form of the tab "Send". */
const draft = { kind: 'erc20', from: 'Alice', to: 'Treasury', customFrom: '', customTo: '', amount: '', token: 'dollar' };

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
    const choices = options([...wallets, ['other', 'another address…']], draft[name]);
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
      ${button('Hostile token name', act({ do: 'hostile', from: 'Bob', to: 'Treasury' }))}
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
  const party = (name: 'from' | 'to'): string => (draft[name] === 'other' ? (name === 'from' ? draft.customFrom : draft.customTo) : draft[name]);
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
  return html`<p class="soft">The notification service sends events only for the addresses in its webhook’s scope. A
      subscription tells the bot in which channel they are told; both are needed.</p>
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

const messages = { method: 'POST', path: '/channels/:channel/messages' };

/** What can go wrong with Discord: the button, the rule, and what is told. */
const misfortunes: [label: string, rule: FaultRule, told: string][] = [
  ['500 for a minute', { fault: { kind: 'error', status: 500 }, ...messages, forMs: MINUTE }, 'Discord answers messages with 500 for a minute.'],
  ['429 for 10 s', { fault: { kind: 'rate-limit', retryAfterMs: 10_000 }, ...messages, times: 1 }, 'The next message is refused with 429: again after 10 s.'],
  ['403 without a code', { fault: { kind: 'error', status: 403 }, ...messages, times: 1 }, 'The next message is refused with a bare 403.'],
  ['Cloudflare page', { fault: { kind: 'cloudflare', status: 429 }, ...messages, times: 1 }, 'The next message meets Cloudflare’s HTML page.'],
  ['Answer lost', { fault: { kind: 'lost' }, ...messages, times: 1 }, 'The next message arrives, but its answer is lost.'],
  ['Away for a minute', { fault: { kind: 'away' }, forMs: MINUTE }, 'All of Discord is away for a minute.'],
  ['Gateway down for a minute', { fault: { kind: 'gateway-down' }, forMs: MINUTE }, 'The gateway is down for a minute; messages go on.'],
];

function breakView({ world, discord }: Known): TemplateResult {
  const down = world.bot.state === 'stopped';
  const { repeat, delayMs, reorder, paused } = world.notification;
  const service = (faults: Extract<Act, { do: 'notification' }>['faults']) => void perform({ do: 'notification', faults });
  return html`<h3>Discord</h3>
    <div class="buttons">${misfortunes.map(([label, rule, told]) => button(label, () => void addFault(rule, told)))}
      ${button('Drop the connection', () => void change({ do: 'gateway.drop' }, 'The bot’s gateway connection was dropped.'))}</div>
    <ul class="faults" aria-label="Faults in force" aria-live="polite">${discord.faults.map(faultView)}</ul>
    ${discord.faults.length > 1 ? button('Mend everything', () => void clearFault(), 'success') : nothing}
    ${channelMisfortunes()}
    <h3>Bot</h3>
    <div class="buttons">
      ${button('Kill it (SIGKILL)', act({ do: 'bot', what: 'kill' }), 'danger', down)}
      ${button('Start it', act({ do: 'bot', what: 'start' }), 'success', !down)}
      ${button('Restart politely', act({ do: 'bot', what: 'restart' }), 'secondary', down)}
    </div>
    <h3>Notification service</h3>
    ${check('Sends each event again 12 s after its 200', repeat > 0, (on) => service({ repeat: on ? 1 : 0, repeatAfterMs: 12_000 }))}
    ${check('Waits 10 s before sending', delayMs > 0, (on) => service({ delayMs: on ? 10_000 : 0 }))}
    ${check('Sends in random order', reorder, (on) => service({ reorder: on }))}
    ${check('Pauses', paused, (on) => service({ paused: on }))}`;
}

function channelMisfortunes(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html``;
  const { id: channelId, name } = channel;
  return html`<h3>#${name}</h3>
    <div class="buttons">
      ${button('Forbid it to the bot', () => void change({ do: 'channel.forbid', channelId }, `The bot no longer sees #${name}.`), 'secondary', !channel.botMaySend)}
      ${button('Allow it again', () => void change({ do: 'channel.allow', channelId }, `The bot sees #${name} again.`), 'success', channel.botMaySend)}
      ${button('Delete the channel', () => void change({ do: 'channel.delete', channelId }, `#${name} was deleted.`), 'danger')}
      ${button('Make a new channel', () => void change({ do: 'channel.create', guildId: guild.id, name: `new-${guild.channels.length + 1}` }, 'A channel was made.'))}
      ${guild.available ? button('Server outage', () => void change({ do: 'guild.unavailable', guildId: guild.id }, `${guild.name} is unavailable.`)) : button('End the outage', () => void change({ do: 'guild.available', guildId: guild.id }, `${guild.name} is back.`), 'success')}
      ${guild.present ? button('Remove the bot', () => void change({ do: 'guild.remove', guildId: guild.id }, `The bot was removed from ${guild.name}.`), 'danger') : button('Invite the bot', () => void change({ do: 'guild.add', guildId: guild.id }, `The bot is in ${guild.name} again.`), 'success')}
    </div>`;
}

function faultView({ id, fault, hits, times, forMs }: FaultState): TemplateResult {
  const words = {
    error: 'Error',
    'rate-limit': '429',
    cloudflare: 'Cloudflare page',
    cut: 'Answer cut',
    lost: 'Answer lost',
    reset: 'Connection broken',
    hang: 'No answer',
    delay: 'Slow',
    'gateway-down': 'Gateway down',
    away: 'Away',
  };
  const status = 'status' in fault ? ` ${fault.status}` : '';
  const span = times !== undefined ? `${times}×` : forMs !== undefined ? 'for a minute' : 'until mended';
  return html`<li><span>${words[fault.kind]}${status}, ${span} <small>met ${hits} request${hits === 1 ? '' : 's'}</small></span>
    ${button('Mend', () => void clearFault(id), 'success')}</li>`;
}

function check(label: string, on: boolean, onChange: (on: boolean) => void): TemplateResult {
  return html`<label class="check"><input type="checkbox" .checked=${on}
    @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}> ${label}</label>`;
}
