import { html, nothing, type TemplateResult } from 'lit-html';
import { act, button, labeled } from './controls.ts';
import { addressName, type Model } from './model.ts';
import { perform } from './requests.ts';
import { attempt, notify } from './screen.ts';

let candidate = '';

export function watchView({ world }: Model): TemplateResult {
  const all = [...Object.values(world.wallets), ...Object.values(world.tokens).map(({ address }) => address)];
  const others = all.filter((address) => !world.watched.includes(address));

  function onAdd(event: SubmitEvent): void {
    event.preventDefault();
    const address = candidate;
    candidate = '';
    void perform({ do: 'watch', address });
  }

  return html`<p class="soft">The notification service sends events only for the addresses in its webhook. A subscription
      chooses the channel for its alerts. An alert needs both.</p>
    ${listView('Watched addresses', world.watched, 'unwatch')}
    ${world.watched.length === 0 ? html`<p class="soft">No address is watched.</p>` : nothing}
    <form class="send-form" @submit=${onAdd}>
      ${labeled(
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
    <h3>Other wallets and tokens</h3>
    ${listView('Addresses that are not watched', others, 'watch')}`;
}

function listView(label: string, addresses: readonly string[], action: 'watch' | 'unwatch'): TemplateResult {
  const name = action === 'watch' ? 'Watch' : 'Unwatch';
  return html`<ul class="scope" aria-label=${label}>
    ${addresses.map(
      (address) => html`<li>${addressView(address)}
        ${button(name, act({ do: action, address }), { about: addressName(address) ?? address })}</li>`,
    )}
  </ul>`;
}

function addressView(address: string): TemplateResult {
  const name = addressName(address) ?? 'Unnamed address';
  const copy = (): void =>
    void attempt(async () => {
      await navigator.clipboard.writeText(address);
      notify(`Copied the address of ${name}.`);
    });
  return html`<span><b>${name}</b>
    <button class="copy" title="Copy the address" aria-label="Copy ${name}, ${address}" @click=${copy}><code>${address}</code></button></span>`;
}
