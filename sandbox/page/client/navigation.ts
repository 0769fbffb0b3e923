import { ChannelType } from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { isThread } from '../../discord/channel-types.ts';
import type { ChannelState, GuildState } from '../../discord/control.ts';
import { avatar, icon, initials } from './avatar.ts';
import { channelsFor, guildOf, localeOf, memberOf, model, nameOf, newestIn, rankOf } from './model.ts';
import { currentChannelId, draw, drawAtOnce, notify, type Theme, ui } from './screen.ts';

export function navigationView(): TemplateResult {
  const guild = guildOf(ui.guildId);
  return html`<nav class="navigation ${ui.drawer === 'channels' ? 'open' : ''}" aria-label="Servers and channels">
    <ul class="rail" aria-label="Servers">${model?.discord.guilds.map(serverView)}</ul>
    <div class="channels">
      <h2>${guild?.name}</h2>
      <ul aria-label="Channels">${guild ? channelsFor(guild, ui.userId).map(channelView) : nothing}</ul>
      ${guild ? personView(guild) : nothing}
    </div>
  </nav>`;
}

const unread = (channelId: string): boolean => BigInt(newestIn(channelId)) > BigInt(ui.read.get(channelId) ?? 0);

function serverView(guild: GuildState): TemplateResult {
  const selected = guild.id === ui.guildId;
  const isUnread = channelsFor(guild, ui.userId).some(({ id }) => unread(id));

  function go(): void {
    ui.guildId = guild.id;
    if (!memberOf(guild, ui.userId)) ui.userId = guild.ownerId;
    draw();
  }

  const away = !guild.present ? ', the bot is not in it' : !guild.available ? ', unavailable' : '';
  return html`<li class="${selected ? 'selected' : ''} ${isUnread ? 'unread' : ''}">
    <button aria-current=${selected ? 'true' : nothing} @click=${go}>
      <span class="initials" aria-hidden="true">${initials(guild.name)}</span>
      <span class="server-name">${guild.name}</span>
      <span class="hidden">${isUnread ? ', unread messages' : ''}${away}</span>
    </button>
  </li>`;
}

function channelView(channel: ChannelState): TemplateResult {
  const selected = channel.id === currentChannelId();
  const isUnread = !selected && unread(channel.id);

  function go(): void {
    ui.channels.set(ui.guildId, channel.id);
    ui.drawer = 'none';
    draw();
  }

  const classes = [selected ? 'selected' : '', isUnread ? 'unread' : '', isThread(channel) ? 'thread' : ''].join(' ');
  return html`<li class=${classes}>
    <button aria-current=${selected ? 'page' : nothing} @click=${go}>
      <span class="sign">${icon(signOf(channel))}</span>${channel.name}
      ${isUnread ? html`<span class="hidden">, unread</span>` : nothing}
      ${channel.botMaySend ? nothing : html`<span class="closed" title="The bot may not send here">${icon('lock')}<span class="hidden">, the bot may not send here</span></span>`}
    </button>
  </li>`;
}

function signOf(channel: ChannelState): 'thread' | 'news' | 'hash' {
  if (isThread(channel) || channel.type === ChannelType.GuildForum) return 'thread';
  return channel.type === ChannelType.GuildAnnouncement ? 'news' : 'hash';
}

const RIGHTS = { owner: 'admin, owns this server', manager: 'manager, Manage Server', member: 'member' };
const languages = new Intl.DisplayNames('en-US', { type: 'language' });

/** In English: `German`. */
const languageOf = (userId: string): string => languages.of(new Intl.Locale(localeOf(userId)).language) ?? '';

function peopleView(guild: GuildState): TemplateResult {
  const people = guild.members.filter(({ userId }) => userId !== model?.discord.botId).map(({ userId }) => userId);
  const become = (userId: string) => (): void => {
    ui.userId = userId;
    const name = nameOf(userId, guild);
    notify(
      `You are ${name} now. ${name}’s Discord is in ${languageOf(userId)}, so the bot replies in ${languageOf(userId)}.`,
    );
  };

  function close(event: KeyboardEvent): void {
    if (event.key !== 'Escape' && event.key !== 'Enter') return;
    ui.peopleOpen = false;
    drawAtOnce(() => document.getElementById('person')?.focus());
  }

  // A press inside the list must not move the focus out of it.
  const hold = (event: Event): void => event.preventDefault();
  return html`<fieldset class="people" @mousedown=${hold} @keydown=${close}>
    <legend>Be another person</legend>
    ${people.map(
      (userId) => html`<label>
        <input type="radio" name="person" .checked=${userId === ui.userId} @change=${become(userId)}>
        ${avatar(userId, nameOf(userId, guild), true)}
        <span>${nameOf(userId, guild)} <small>${RIGHTS[rankOf(guild, userId)]} · ${languageOf(userId)}</small></span>
      </label>`,
    )}
  </fieldset>`;
}

function personView(guild: GuildState): TemplateResult {
  function toggle(): void {
    ui.peopleOpen = !ui.peopleOpen;
    drawAtOnce(() => document.querySelector<HTMLElement>('.people input:checked')?.focus());
  }

  function leave(event: FocusEvent): void {
    const inside = (event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null);
    if (inside || !ui.peopleOpen) return;
    ui.peopleOpen = false;
    draw();
  }

  const rank = rankOf(guild, ui.userId) === 'owner' ? 'admin' : rankOf(guild, ui.userId);
  const language = languageOf(ui.userId);
  const standing = language === 'English' ? rank : `${rank} · ${language}`;
  return html`<div class="person" @focusout=${leave}>
    ${ui.peopleOpen ? peopleView(guild) : nothing}
    <button id="person" aria-expanded=${ui.peopleOpen} @click=${toggle}>
      ${avatar(ui.userId, nameOf(ui.userId, guild), true)}
      <span>${nameOf(ui.userId, guild)} <small>${standing}</small></span>
      <span class="hidden">: be another person</span>${icon('change')}
    </button>
    ${themeView()}
  </div>`;
}

const THEME_KEY = 'ledgerbell-theme';
const NEXT_THEME: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };

function themeView(): TemplateResult {
  const next = NEXT_THEME[ui.theme];

  function turn(): void {
    setTheme(next);
    draw();
  }

  return html`<button class="theme" title="Colors: ${ui.theme}" aria-label="Colors: ${ui.theme}. Change to ${next}" @click=${turn}>${icon(ui.theme)}</button>`;
}

function setTheme(theme: Theme): void {
  ui.theme = theme;
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(THEME_KEY, theme);
}

export function restoreTheme(): void {
  const stored = localStorage.getItem(THEME_KEY);
  setTheme(stored === 'dark' || stored === 'light' ? stored : 'system');
}
