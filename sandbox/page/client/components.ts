import {
  type APIButtonComponent,
  type APIMessageComponent,
  type APISelectMenuComponent,
  ButtonStyle,
  ComponentType as Component,
} from 'discord-api-types/v10';
import { html, nothing, render, type TemplateResult } from 'lit-html';
import type { GuildState, MessageState } from '../../discord/control.ts';
import { channelsFor, nameOf } from './model.ts';
import { useComponent } from './requests.ts';
import { ui } from './screen.ts';
import { markdown } from './text.ts';

interface Choice {
  value: string;
  label: string;
  description?: string | undefined;
}

export function components(state: MessageState, guild: GuildState | undefined): TemplateResult | typeof nothing {
  const list = state.message.components ?? [];
  return list.length === 0
    ? nothing
    : html`<div class="components">${list.map((component) => drawOne(component, state, guild))}</div>`;
}

function drawOne(component: APIMessageComponent, state: MessageState, guild: GuildState | undefined): unknown {
  switch (component.type) {
    case Component.ActionRow:
      return html`<div class="row">${component.components.map((inner) => drawOne(inner, state, guild))}</div>`;
    case Component.Button:
      return button(component, state);
    case Component.StringSelect:
    case Component.UserSelect:
    case Component.RoleSelect:
    case Component.MentionableSelect:
    case Component.ChannelSelect:
      return html`<bell-select .owner=${{ menu: component, state, guild }}></bell-select>`;
    case Component.TextDisplay:
      return markdown(component.content, guild);
    case Component.Section:
      return html`<div class="section">
        <div>${component.components.map((inner) => drawOne(inner, state, guild))}</div>
        ${drawOne(component.accessory as APIMessageComponent, state, guild)}
      </div>`;
    case Component.Separator:
      return html`<hr>`;
    case Component.Container: {
      const color = component.accent_color
        ? `border-left-color:#${component.accent_color.toString(16).padStart(6, '0')}`
        : '';
      return html`<div class="embed container" .style=${color}>
        <div class="inner">${component.components.map((inner) => drawOne(inner as APIMessageComponent, state, guild))}</div>
      </div>`;
    }
    default:
      return nothing;
  }
}

function button(data: APIButtonComponent, state: MessageState): TemplateResult | typeof nothing {
  const emoji =
    'emoji' in data && data.emoji?.name ? html`<span aria-hidden="true">${data.emoji.name}</span> ` : nothing;
  const label = 'label' in data && data.label ? data.label : nothing;
  const name = label === nothing && 'emoji' in data ? (data.emoji?.name ?? '') : nothing;
  if ('url' in data)
    return html`<a class="button secondary" href=${/^https?:/.test(data.url) ? data.url : '#'} target="_blank" rel="noopener noreferrer"
      >${emoji}${label} <span aria-hidden="true">↗</span></a>`;
  if (!('custom_id' in data)) return nothing;
  const pending = ui.pending.has(`${state.id} ${data.custom_id}`);
  return html`<button class="button ${ButtonStyle[data.style].toLowerCase()}" ?disabled=${data.disabled ?? false} aria-busy=${pending}
    aria-label=${name} data-custom-id=${data.custom_id}
    @click=${() => void useComponent(state.id, data.custom_id)}>${emoji}${label}</button>`;
}

function choicesOf(menu: APISelectMenuComponent, guild: GuildState | undefined): Choice[] {
  const people = (guild?.members ?? []).map(({ userId }) => ({ value: userId, label: nameOf(userId, guild) }));
  const roles = (guild?.roles ?? []).map(({ id, name }) => ({ value: id, label: `@${name.replace(/^@/, '')}` }));
  switch (menu.type) {
    case Component.StringSelect:
      return menu.options.map(({ value, label, description }) => ({ value, label, description }));
    case Component.UserSelect:
      return people;
    case Component.RoleSelect:
      return roles;
    case Component.MentionableSelect:
      return [...people, ...roles];
    case Component.ChannelSelect:
      return (guild ? channelsFor(guild, ui.userId) : [])
        .filter(({ type }) => !menu.channel_types?.length || menu.channel_types.includes(type))
        .map(({ id, name }) => ({ value: id, label: `#${name}` }));
  }
}

function defaultsOf(menu: APISelectMenuComponent): string[] {
  if (menu.type === Component.StringSelect)
    return menu.options.filter((option) => option.default).map(({ value }) => value);
  return menu.default_values?.map(({ id }) => id) ?? [];
}

/** Without `state` the menu is in a form. */
export interface Owner {
  menu: APISelectMenuComponent;
  state: MessageState | null;
  guild: GuildState | undefined;
}

let count = 0;

/** A select menu as Discord draws it. A class, because custom elements are classes. */
export class BellSelect extends HTMLElement {
  values: string[] = [];
  #owner: Owner | undefined;
  #open = false;
  #active = 0;
  readonly #id = `menu-${++count}`;

  set owner(owner: Owner) {
    const changed =
      this.#owner?.menu !== owner.menu && JSON.stringify(this.#owner?.menu) !== JSON.stringify(owner.menu);
    this.#owner = owner;
    if (changed) this.values = defaultsOf(owner.menu);
    this.#draw();
  }

  connectedCallback(): void {
    this.addEventListener('focusout', (event) => {
      if (!this.contains(event.relatedTarget as Node | null)) this.#close(true);
    });
    this.addEventListener('keydown', (event) => this.#key(event));
    this.#draw();
  }

  get #choices(): Choice[] {
    return this.#owner ? choicesOf(this.#owner.menu, this.#owner.guild) : [];
  }

  get #max(): number {
    return this.#owner?.menu.max_values ?? 1;
  }

  #toggle(): void {
    if (this.#open) {
      this.#close(true);
      return;
    }
    this.#open = true;
    this.#active = Math.max(
      0,
      this.#choices.findIndex(({ value }) => this.values.includes(value)),
    );
    this.#draw();
    this.#place();
  }

  /** Opens the list upward where it would end below what is visible. */
  #place(): void {
    this.classList.remove('upward');
    const around = this.closest('#messages, dialog')?.getBoundingClientRect();
    const list = this.querySelector('.choices')?.getBoundingClientRect();
    if (!around || !list) return;
    const room = this.getBoundingClientRect().top - around.top;
    this.classList.toggle('upward', list.bottom > around.bottom && room > list.height);
  }

  #close(send: boolean): void {
    if (!this.#open) return;
    this.#open = false;
    this.#draw();
    if (send && this.#max > 1) this.#send();
  }

  #send(): void {
    const { menu, state } = this.#owner!;
    const enough = this.values.length >= (menu.min_values ?? 1);
    const isChanged = this.values.join() !== defaultsOf(menu).join();
    if (state && enough && isChanged) void useComponent(state.id, menu.custom_id, this.values);
  }

  #pick(value: string): void {
    if (this.#max === 1) {
      this.values = [value];
      this.#close(false);
      this.querySelector('button')?.focus();
      this.#send();
      return;
    }
    const without = this.values.filter((picked) => picked !== value);
    if (without.length < this.values.length) this.values = without;
    else if (this.values.length < this.#max) this.values = [...this.values, value];
    this.#draw();
  }

  #key(event: KeyboardEvent): void {
    const choices = this.#choices;
    if (event.key === 'Escape' && this.#open) {
      this.#close(false);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (!this.#open) this.#toggle();
      else this.#active = (this.#active + (event.key === 'ArrowDown' ? 1 : choices.length - 1)) % choices.length;
    } else if ((event.key === 'Enter' || event.key === ' ') && this.#open) {
      const choice = choices[this.#active];
      if (choice) this.#pick(choice.value);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.#draw();
    this.querySelector('[role="option"].active')?.scrollIntoView({ block: 'nearest' });
  }

  #draw(): void {
    if (!this.#owner || !this.isConnected) return;
    const { menu } = this.#owner;
    const choices = this.#choices;
    const labels = choices.filter(({ value }) => this.values.includes(value)).map(({ label }) => label);
    const placeholder = menu.placeholder ?? 'Make a selection';
    const list = html`<div class="choices" role="listbox" id=${this.#id} aria-label=${placeholder}
      aria-multiselectable=${this.#max > 1}>
      ${choices.map(
        ({ value, label, description }, index) => html`<div role="option" id="${this.#id}-${index}" tabindex="-1"
          class=${index === this.#active ? 'active' : ''} aria-selected=${this.values.includes(value)}
          @mousedown=${(event: Event) => event.preventDefault()}
          @click=${() => this.#pick(value)}>
          <span>${label}</span>${description ? html`<small>${description}</small>` : nothing}
        </div>`,
      )}
      ${choices.length === 0 ? html`<div class="none">Nothing to choose from</div>` : nothing}
    </div>`;
    render(
      html`<button type="button" class="select" role="combobox" aria-haspopup="listbox" aria-expanded=${this.#open}
        aria-controls=${this.#open ? this.#id : nothing} aria-label="${placeholder}${labels.length > 0 ? `: ${labels.join(', ')}` : ''}"
        aria-activedescendant=${this.#open ? `${this.#id}-${this.#active}` : nothing}
        ?disabled=${menu.disabled ?? false} @click=${() => this.#toggle()}>
        <span class=${labels.length > 0 ? '' : 'placeholder'}>${labels.length > 0 ? labels.join(', ') : placeholder}</span>
        <span aria-hidden="true">⌄</span>
      </button>
      ${this.#open ? list : nothing}`,
      this,
    );
  }
}

customElements.define('bell-select', BellSelect);
