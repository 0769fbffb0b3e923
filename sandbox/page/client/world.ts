import { html, nothing, type TemplateResult } from 'lit-html';
import { icon } from './avatar.ts';
import { breakView } from './break.ts';
import { button } from './controls.ts';
import { eventsView } from './events.ts';
import { isOnline, type Model, model, onNetwork } from './model.ts';
import { draw, drawAtOnce, type Tab, ui } from './screen.ts';
import { sendView } from './send.ts';
import { isTouring, restartTour } from './tour.ts';
import { watchView } from './watch.ts';

const TABS: Record<Tab, string> = { events: 'Events', send: 'Send', watch: 'Watch', break: 'Break' };

/** `close` closes the panel where it is a drawer. */
export function worldView(now: number, close: () => void): TemplateResult {
  function startTour(): void {
    restartTour();
    if (ui.drawer === 'world') close();
  }

  const isClosed = ui.drawer !== 'world' && !ui.worldOpen;
  if (!model) return html``;
  return html`<aside class="world ${ui.drawer === 'world' ? 'open' : ''} ${isClosed ? 'closed' : ''}" aria-label="World">
    <header>
      <h2>World</h2>
      ${isTouring() ? nothing : html`<button class="link" @click=${startTour}>Tour</button>`}
      ${ui.drawer === 'world' ? html`<button class="icon" aria-label="Close" @click=${close}>${icon('close')}</button>` : nothing}
    </header>
    ${statusView(model)}${networksView(model)}
    <div role="tablist" aria-label="World" @keydown=${onTabKey}>
      ${(Object.keys(TABS) as Tab[]).map(
        (tab) => html`<button role="tab" id="tab-${tab}" aria-selected=${ui.tab === tab} aria-controls="world-panel"
          tabindex=${ui.tab === tab ? 0 : -1} @click=${() => openTab(tab)}>${TABS[tab]}</button>`,
      )}
    </div>
    <div role="tabpanel" id="world-panel" aria-labelledby="tab-${ui.tab}" tabindex="0">${panel(onNetwork(model, ui.network), now)}</div>
  </aside>`;
}

function openTab(tab: Tab): void {
  ui.tab = tab;
  drawAtOnce(() => document.getElementById(`tab-${tab}`)?.focus());
}

function onTabKey(event: KeyboardEvent): void {
  const names = Object.keys(TABS) as Tab[];
  const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? names.length - 1 : 0;
  if (step === 0) return;
  event.preventDefault();
  openTab(names[(names.indexOf(ui.tab) + step) % names.length]!);
}

function panel(all: Model, now: number): TemplateResult {
  switch (ui.tab) {
    case 'events':
      return eventsView(all, now);
    case 'send':
      return sendView(all);
    case 'watch':
      return watchView(all);
    case 'break':
      return breakView(all);
  }
}

function networksView({ world }: Model): TemplateResult | typeof nothing {
  const { title, second } = world;
  if (second === null) return nothing;
  if (second === 'starting') return html`<p class="status" role="status">The second network is starting…</p>`;
  const choose = (network: number) => (): void => {
    ui.network = network;
    draw();
  };
  return html`<p class="status buttons" role="group" aria-label="Network">
    ${[title, second.title].map((name, network) => button(name, choose(network), { kind: ui.network === network ? 'primary' : 'secondary' }))}
  </p>`;
}

function statusView(all: Model): TemplateResult {
  const { world, discord } = all;
  const { state, pid, note } = world.bot;
  const bot =
    state === 'running'
      ? isOnline(all)
        ? `Bot is running (process ${pid})`
        : `Bot is connecting (process ${pid})`
      : state === 'stopping'
        ? 'Bot is stopping'
        : 'Bot is down';
  const faults = discord.faults.length;
  return html`<p class="status" role="status">
      <span class="lamp ${state !== 'running' ? 'bad' : isOnline(all) ? 'good' : 'soon'}" aria-hidden="true"></span>${bot}
      ${state === 'stopped' ? html`<small>${note}</small>` : nothing}
      ${faults > 0 ? html`<small>${faults} fault${faults > 1 ? 's' : ''} in Discord</small>` : nothing}
    </p>`;
}
