/** Buttons, menus and the newer layout components of a message. */
import {
  type APIButtonComponent,
  type APIMessageComponent,
  type APISelectMenuComponent,
  ButtonStyle,
  ComponentType as Component,
} from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { GuildState, MessageState } from '../../discord/control.ts';
import { channelsFor, nameOf } from './model.ts';
import { useComponent } from './requests.ts';
import { ui } from './screen.ts';
import { markdown } from './text.ts';

/** One choice of a menu. */
export interface Choice {
  value: string;
  label: string;
  description?: string | undefined;
}

/** Draws everything below a message's text. */
export function components(state: MessageState, guild: GuildState | undefined): TemplateResult | typeof nothing {
  const list = state.message.components ?? [];
  return list.length === 0
    ? nothing
    : html`<div class="components">${list.map((one) => drawOne(one, state, guild))}</div>`;
}

function drawOne(one: APIMessageComponent, state: MessageState, guild: GuildState | undefined): unknown {
  switch (one.type) {
    case Component.ActionRow:
      return html`<div class="row">${one.components.map((inner) => drawOne(inner, state, guild))}</div>`;
    case Component.Button:
      return button(one, state);
    case Component.StringSelect:
    case Component.UserSelect:
    case Component.RoleSelect:
    case Component.MentionableSelect:
    case Component.ChannelSelect:
      return html`<bell-select .owner=${{ menu: one, state, guild }}></bell-select>`;
    case Component.TextDisplay:
      return markdown(one.content, guild);
    case Component.Section:
      return html`<div class="section">
        <div>${one.components.map((inner) => drawOne(inner, state, guild))}</div>
        ${drawOne(one.accessory as APIMessageComponent, state, guild)}
      </div>`;
    case Component.Separator:
      return html`<hr>`;
    case Component.Container: {
      const color = one.accent_color ? `border-left-color:#${one.accent_color.toString(16).padStart(6, '0')}` : '';
      return html`<div class="embed container" .style=${color}>
        <div class="inner">${one.components.map((inner) => drawOne(inner as APIMessageComponent, state, guild))}</div>
      </div>`;
    }
    default:
      return nothing;
  }
}

const STYLES: Partial<Record<ButtonStyle, string>> = {
  [ButtonStyle.Primary]: 'primary',
  [ButtonStyle.Secondary]: 'secondary',
  [ButtonStyle.Success]: 'success',
  [ButtonStyle.Danger]: 'danger',
};

function button(one: APIButtonComponent, state: MessageState): TemplateResult | typeof nothing {
  const emoji = 'emoji' in one && one.emoji?.name ? html`<span aria-hidden="true">${one.emoji.name}</span> ` : nothing;
  const label = 'label' in one && one.label ? one.label : nothing;
  const name = label === nothing && 'emoji' in one ? (one.emoji?.name ?? '') : nothing;
  if ('url' in one)
    return html`<a class="button secondary" href=${/^https?:/.test(one.url) ? one.url : '#'} target="_blank" rel="noopener noreferrer"
      >${emoji}${label} <span aria-hidden="true">↗</span></a>`;
  if (!('custom_id' in one)) return nothing;
  const pending = ui.pending.has(`${state.id} ${one.custom_id}`);
  return html`<button class="button ${STYLES[one.style]}" ?disabled=${one.disabled ?? false} aria-busy=${pending}
    aria-label=${name} data-custom-id=${one.custom_id}
    @click=${() => void useComponent(state.id, one.custom_id)}>${emoji}${label}</button>`;
}

/** Returns a menu's choices: its own options, or people, roles and channels of the server. */
export function choicesOf(menu: APISelectMenuComponent, guild: GuildState | undefined): Choice[] {
  const people = (): Choice[] =>
    (guild?.members ?? []).map(({ userId }) => ({ value: userId, label: nameOf(userId, guild) }));
  const roles = (): Choice[] =>
    (guild?.roles ?? []).map(({ id, name }) => ({ value: id, label: `@${name.replace(/^@/, '')}` }));
  switch (menu.type) {
    case Component.StringSelect:
      return menu.options.map(({ value, label, description }) => ({ value, label, description }));
    case Component.UserSelect:
      return people();
    case Component.RoleSelect:
      return roles();
    case Component.MentionableSelect:
      return [...people(), ...roles()];
    case Component.ChannelSelect:
      return (guild ? channelsFor(guild, ui.userId) : [])
        .filter(({ type }) => !menu.channel_types?.length || menu.channel_types.includes(type))
        .map(({ id, name }) => ({ value: id, label: `#${name}` }));
  }
}

/** Returns a menu's default values. */
export function defaultsOf(menu: APISelectMenuComponent): string[] {
  if (menu.type === Component.StringSelect)
    return menu.options.filter((option) => option.default).map(({ value }) => value);
  return menu.default_values?.map(({ id }) => id) ?? [];
}
