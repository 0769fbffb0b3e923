import { MessageFlags } from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import { icon } from './avatar.ts';
import { composerView } from './composer.ts';
import { formView, openForm } from './form.ts';
import { entryView } from './message.ts';
import { channelOf, connected, guildOf, hasFlag, model, timeline } from './model.ts';
import { navigationView, restoreTheme } from './navigation.ts';
import { currentChannelId, draw, drawAtOnce, listen, show, ui } from './screen.ts';
import { scrollToPlace, watchScroll } from './scroll.ts';
import { refreshTimes } from './text.ts';
import { tourView } from './tour.ts';
import { worldView } from './world.ts';

let shownChannel = '';

function app(): TemplateResult {
  if (!model)
    return html`<main class="starting" aria-busy="true"><p>${connected ? 'Loading…' : 'The sandbox is starting…'}</p></main>`;
  const channelId = currentChannelId();
  if (channelId !== shownChannel) {
    shownChannel = channelId;
    ui.following = true;
  }
  queueMicrotask(afterDraw);
  const toast = ['toast', ui.toastIsError ? 'bad' : '', ui.toast ? '' : 'empty', ui.drawer === 'none' ? '' : 'low'];
  return html`<a class="skip" href="#composer">Skip to the message line</a>
    <div class="app ${ui.worldOpen ? '' : 'wide'}">
      ${navigationView()}
      ${ui.drawer === 'none' ? nothing : html`<div class="shade" @click=${closeDrawer}></div>`}
      ${channelView(channelId)}
      ${worldView(Date.now(), closeDrawer)}
    </div>
    ${formView()}
    <p class=${toast.join(' ')} role="status" aria-live="polite">${ui.toast}</p>`;
}

function channelView(channelId: string): TemplateResult {
  const channel = channelOf(channelId);
  const guild = guildOf(ui.guildId);
  const entries = timeline(channelId, ui.userId).filter(({ id }) => !ui.dismissed.has(id));
  return html`<main class="channel" ?inert=${ui.drawer !== 'none'}>
    <header class="top">
      <button class="icon menu" id="open-channels" aria-label="Servers and channels" aria-expanded=${ui.drawer === 'channels'} @click=${() => openDrawer('channels')}>${icon('menu')}</button>
      <h1><span aria-hidden="true">#</span> ${channel?.name ?? 'no channel'}</h1>
      ${channel?.topic ? html`<p>${channel.topic}</p>` : nothing}
      <button class="icon" id="open-world" aria-label="World" title="World" aria-expanded=${narrow() ? ui.drawer === 'world' : ui.worldOpen} @click=${toggleWorld}>${icon('world')}</button>
    </header>
    ${connected ? nothing : html`<p class="lost" role="alert">The sandbox does not respond. Start it again: npm run sandbox</p>`}
    <div class="messages" id="messages" role="log" aria-label="Messages in ${channel?.name ?? ''}" tabindex="0">
      <div class="list">
        <div class="welcome"><h2>Welcome to #${channel?.name ?? ''}!</h2><p>This is the start of the channel.</p></div>
        ${repeat(
          entries,
          ({ id }) => id,
          (entry, index) => entryView(entry, entries[index - 1], guild),
        )}
      </div>
    </div>
    ${ui.following ? nothing : html`<button class="present" @click=${toPresent}>You’re viewing older messages · Jump to present</button>`}
    ${tourView(openWorld)}
    ${composerView()}
  </main>`;
}

function openDrawer(drawer: 'channels' | 'world'): void {
  ui.drawer = drawer;
  const first = drawer === 'world' ? '[role="tab"][tabindex="0"]' : '.rail button';
  drawAtOnce(() => document.querySelector<HTMLElement>(first)?.focus());
}

function closeDrawer(): void {
  const opener = `open-${ui.drawer}`;
  ui.drawer = 'none';
  drawAtOnce(() => document.getElementById(opener)?.focus());
}

const narrow = (): boolean => matchMedia('(max-width: 1100px)').matches;

function toggleWorld(): void {
  if (narrow()) {
    openDrawer('world');
    return;
  }
  ui.worldOpen = !ui.worldOpen;
  draw();
}

function openWorld(tab: typeof ui.tab): void {
  ui.tab = tab;
  if (narrow()) {
    openDrawer('world');
    return;
  }
  ui.worldOpen = true;
  drawAtOnce(() => document.getElementById(`tab-${tab}`)?.focus());
}

function toPresent(): void {
  ui.following = true;
  draw();
}

function afterDraw(): void {
  const list = document.getElementById('messages');
  if (list) {
    watchScroll(list);
    const revealed = model?.messages.get(ui.reveal);
    // A message that still says "thinking…" will change its height.
    scrollToPlace(list, revealed !== undefined && hasFlag(revealed, MessageFlags.Loading));
  }
  openForm();
}

addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && ui.drawer !== 'none' && !event.defaultPrevented) closeDrawer();
});
addEventListener('resize', () => draw());
document.addEventListener('visibilitychange', () => draw());
setInterval(() => {
  refreshTimes();
  draw();
}, 1_000);
restoreTheme();
show(app);
listen();
