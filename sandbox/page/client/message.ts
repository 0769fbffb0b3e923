import {
  type APIAttachment,
  type APIEmbed,
  type APIEmbedField,
  type APIEmbedImage,
  MessageFlags,
} from 'discord-api-types/v10';
import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { MINUTE } from '../../../src/domain/units.ts';
import type { GuildState, InteractionState, MessageState } from '../../discord/control.ts';
import { avatar } from './avatar.ts';
import { isMessageCommand, messageCommandsFor } from './commands.ts';
import { components } from './components.ts';
import { coloredRole, hasFlag, memberOf, model, nameOf } from './model.ts';
import { applyCommand } from './requests.ts';
import { draw, ui } from './screen.ts';
import { inlineMarkdown, markdown } from './text.ts';
import { dayName, longTime, messageTime, midnight, shortTime } from './time.ts';

/** Messages of one author within this time share a header. */
const GROUP_MS = 7 * MINUTE;

type Entry = MessageState | InteractionState;
const isMessage = (entry: Entry): entry is MessageState => 'message' in entry;
const timeOf = (entry: Entry): number => Date.parse(isMessage(entry) ? entry.message.timestamp : entry.at);

export function entryView(entry: Entry, before: Entry | undefined, guild: GuildState | undefined): TemplateResult {
  const at = timeOf(entry);
  const newDay = before === undefined || new Date(timeOf(before)).toDateString() !== new Date(at).toDateString();
  const divider = newDay ? html`<div class="day" role="separator"><span>${dayName(at)}</span></div>` : nothing;
  if (!isMessage(entry)) return html`${divider}${failure(entry, guild)}`;
  const grouped = !newDay && before !== undefined && continues(entry, before);
  const pending = [...ui.pending].filter((key) => key.startsWith(entry.id)).join();
  const parts = [entry, grouped, newDay, ui.userId, model?.edition, pending, midnight()];
  return html`${guard(parts, () => html`${divider}${messageView(entry, grouped, guild)}`)}`;
}

function continues(entry: MessageState, before: Entry): boolean {
  return (
    isMessage(before) &&
    before.message.author.id === entry.message.author.id &&
    before.visibleTo === entry.visibleTo &&
    !entry.message.interaction_metadata &&
    !entry.message.message_reference &&
    timeOf(entry) - timeOf(before) < GROUP_MS
  );
}

function messageView(state: MessageState, grouped: boolean, guild: GuildState | undefined): TemplateResult {
  const { message } = state;
  const name = nameOf(message.author.id, guild);
  const at = Date.parse(message.timestamp);
  const ephemeral = hasFlag(state, MessageFlags.Ephemeral);
  const color = guild && coloredRole(guild, message.author.id)?.color;
  const classes = [
    'message',
    grouped ? 'grouped' : '',
    ephemeral ? 'ephemeral' : '',
    mentionsMe(state, guild) ? 'pinged' : '',
  ];
  const head = html`<header>
    <strong class="author" .style=${color ? `color:${hex(color)}` : ''}>${name}</strong>
    ${message.author.bot ? html`<span class="tag">APP</span>` : nothing}
    <time datetime=${message.timestamp} title=${longTime(at)}>${messageTime(at)}</time>
  </header>`;
  return html`<article class=${classes.join(' ')} data-message=${state.id} aria-label="${name}, ${messageTime(at)}">
    ${grouped ? html`<time class="gutter" datetime=${message.timestamp}>${shortTime(at)}</time>` : above(state, guild)}
    ${grouped ? nothing : avatar(message.author.id, name)}
    <div class="body">
      ${grouped ? nothing : head}
      ${hasFlag(state, MessageFlags.Loading) ? html`<p class="thinking"><i></i><i></i><i></i> ${name} is thinking…</p>` : content(state, guild)}
      ${ephemeral ? onlyYou(state) : nothing}
    </div>
    ${ephemeral || !guild ? nothing : menuOf(state, guild)}
  </article>`;
}

function menuOf({ id }: MessageState, guild: GuildState): TemplateResult | typeof nothing {
  const commands = messageCommandsFor(guild, ui.userId);
  if (commands.length === 0) return nothing;

  function use(event: Event, name: string): void {
    (event.target as Element).closest('details')?.removeAttribute('open');
    void applyCommand(name, id);
  }

  return html`<details class="apps">
    <summary aria-label="Apps for this message" title="Apps">⋯</summary>
    <div>${commands.map(({ name, label }) => html`<button @click=${(event: Event) => use(event, name)}>${label}</button>`)}</div>
  </details>`;
}

function content(state: MessageState, guild: GuildState | undefined): TemplateResult {
  const { message } = state;
  const edited = message.edited_timestamp
    ? html`<span class="edited" title=${longTime(Date.parse(message.edited_timestamp))}>(edited)</span>`
    : nothing;
  return html`
    ${message.content ? html`<div class="content">${markdown(message.content, guild)}</div>` : nothing}
    ${hasFlag(state, MessageFlags.IsComponentsV2) ? nothing : message.embeds.map((embed) => embedView(embed, guild))}
    ${message.attachments.map(fileView)}
    ${components(state, guild)}
    ${edited}`;
}

function above(state: MessageState, guild: GuildState | undefined): TemplateResult | typeof nothing {
  const { message } = state;
  const by = message.interaction_metadata;
  if (by && 'name' in by && typeof by.name === 'string') {
    const name = nameOf(by.user.id, guild);
    return html`<p class="above">${avatar(by.user.id, name, true)} <span>${name}</span> used <span class="mention">${isMessageCommand(by.name) ? '' : '/'}${by.name}</span></p>`;
  }
  const source = message.message_reference?.message_id && model?.messages.get(message.message_reference.message_id);
  if (!source) return nothing;
  const text = source.message.content || source.message.embeds[0]?.title || 'Click to see attachment';
  return html`<p class="above"><span>${nameOf(source.message.author.id, guild)}</span> <span class="quoted">${text.replaceAll(/[`*]/g, '')}</span></p>`;
}

function onlyYou(state: MessageState): TemplateResult {
  function dismiss(): void {
    ui.dismissed.add(state.id);
    draw();
  }

  return html`<p class="only-you">Only you can see this · <button class="link" @click=${dismiss}>Dismiss message</button></p>`;
}

function mentionsMe({ message }: MessageState, guild: GuildState | undefined): boolean {
  const roles = (guild && memberOf(guild, ui.userId)?.roleIds) ?? [];
  return (
    message.mention_everyone ||
    message.mentions.some(({ id }) => id === ui.userId) ||
    message.mention_roles.some((id) => roles.includes(id))
  );
}

const USED_NAMES: Partial<Record<InteractionState['kind'], (name: string) => string>> = {
  command: (name) => `/${name}`,
  'message-command': (name) => name,
  modal: () => 'a form',
};

function failure(entry: InteractionState, guild: GuildState | undefined): TemplateResult {
  const bot = model?.discord.botId ?? '0';
  const name = nameOf(entry.userId, guild);
  const used = USED_NAMES[entry.kind]?.(entry.name) ?? 'a button';
  return html`<article class="message ephemeral" data-message=${entry.id} aria-label="The application did not respond">
    <p class="above">${avatar(entry.userId, name, true)} <span>${name}</span> used <span class="mention">${used}</span></p>
    ${avatar(bot, 'L')}
    <div class="body">
      <header><strong class="author">${nameOf(bot, guild)}</strong> <span class="tag">APP</span>
        <time datetime=${entry.at}>${messageTime(Date.parse(entry.at))}</time></header>
      <p class="failed">${entry.failure}</p>
    </div>
  </article>`;
}

const hex = (color: number): string => `#${color.toString(16).padStart(6, '0')}`;

function embedView(embed: APIEmbed, guild: GuildState | undefined): TemplateResult {
  const title = embed.title ? inlineMarkdown(embed.title, guild) : nothing;
  const foot = [embed.footer?.text, embed.timestamp && messageTime(Date.parse(embed.timestamp))]
    .filter(Boolean)
    .join(' • ');
  return html`<div class="embed" .style=${embed.color === undefined ? '' : `border-left-color:${hex(embed.color)}`}>
    <div class="inner">
      ${embed.author ? html`<p class="embed-author">${linkTo(embed.author.url, embed.author.name)}</p>` : nothing}
      ${embed.title ? html`<p class="embed-title" role="heading" aria-level="3">${linkTo(embed.url, title)}</p>` : nothing}
      ${embed.description ? html`<div class="embed-text">${markdown(embed.description, guild)}</div>` : nothing}
      ${embed.fields?.length ? fieldsView(embed.fields, guild) : nothing}
      ${picture(embed.image, 'embed-image')}
      ${foot ? html`<p class="embed-foot">${foot}</p>` : nothing}
    </div>
    ${picture(embed.thumbnail, 'embed-thumbnail')}
  </div>`;
}

function linkTo(url: string | undefined, inside: unknown): unknown {
  if (!url || !/^https?:/.test(url)) return inside;
  return html`<a href=${url} target="_blank" rel="noopener noreferrer">${inside}</a>`;
}

/** Up to three inline fields share a row. */
function fieldsView(fields: readonly APIEmbedField[], guild: GuildState | undefined): TemplateResult {
  const rows: APIEmbedField[][] = [];
  for (const field of fields) {
    const last = rows.at(-1);
    if (field.inline && last?.[0]?.inline && last.length < 3) last.push(field);
    else rows.push([field]);
  }
  const fieldView = ({ name, value }: APIEmbedField): TemplateResult => html`<div class="field">
    <p class="field-name">${inlineMarkdown(name, guild)}</p>
    ${markdown(value, guild)}
  </div>`;
  return html`<div class="fields">${rows.map((row) => html`<div class="field-row">${row.map(fieldView)}</div>`)}</div>`;
}

/** The path of a file that the stand-in keeps, or null: no request may leave this machine. */
function ownPath(url: string | undefined): string | null {
  const root = model?.discord.url;
  return url && root && url.startsWith(`${root}/`) ? url.slice(root.length) : null;
}

/** Width and height reserve the picture's place before it has loaded. */
function picture(image: APIEmbedImage | undefined, kind: string): TemplateResult | typeof nothing {
  const path = ownPath(image?.url);
  if (!image || path === null) return nothing;
  return html`<img class=${kind} src=${path} width=${image.width || nothing} height=${image.height || nothing} alt="Picture in the embed">`;
}

function fileView(file: APIAttachment): TemplateResult {
  const path = ownPath(file.url);
  if (path && file.content_type?.startsWith('image/'))
    return html`<img class="embed-image" src=${path} width=${file.width || nothing} height=${file.height || nothing} alt=${file.description ?? file.filename}>`;
  return html`<p class="file">
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 2h8l5 5v15H6Zm8 0v5h5" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>
    <a href=${path ?? '#'} download=${file.filename}>${file.filename}</a> <small>${sizeOf(file.size)}</small>
  </p>`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
