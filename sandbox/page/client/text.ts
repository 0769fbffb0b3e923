/** Values go through lit-html's bindings, so nothing in them can become markup. */
import { html, type TemplateResult } from 'lit-html';
import type { GuildState } from '../../discord/control.ts';
import { type Block, type Inline, readInline, readMarkdown } from './markdown.ts';
import { channelOf, nameOf, userOf } from './model.ts';
import { longTime, styledTime } from './time.ts';

type Drawn = TemplateResult | string;

export function markdown(source: string, guild: GuildState | undefined): TemplateResult {
  return html`<div class="md">${readMarkdown(source).map((block) => drawBlock(block, guild))}</div>`;
}

export function inlineMarkdown(source: string, guild: GuildState | undefined): Drawn[] {
  return readInline(source).map((node) => drawInline(node, guild));
}

function drawBlock(block: Block, guild: GuildState | undefined): TemplateResult {
  const inside = (children: Inline[]): Drawn[] => children.map((child) => drawInline(child, guild));
  switch (block.type) {
    case 'text':
      return html`<p>${inside(block.children)}</p>`;
    case 'subtext':
      return html`<p class="subtext">${inside(block.children)}</p>`;
    case 'heading':
      return html`<p class="heading h${block.level}" role="heading" aria-level="4">${inside(block.children)}</p>`;
    case 'quote':
      return html`<blockquote>${block.children.map((child) => drawBlock(child, guild))}</blockquote>`;
    case 'list': {
      const items = block.items.map((item) => html`<li>${inside(item)}</li>`);
      return block.ordered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case 'fence':
      return html`<pre><code>${block.text}</code></pre>`;
  }
}

function drawInline(node: Inline, guild: GuildState | undefined): Drawn {
  const inside = (children: Inline[]): Drawn[] => children.map((child) => drawInline(child, guild));
  switch (node.type) {
    case 'text':
    case 'emoji':
      return node.text;
    case 'code':
      return html`<code>${node.text}</code>`;
    case 'strong':
      return html`<strong>${inside(node.children)}</strong>`;
    case 'em':
      return html`<em>${inside(node.children)}</em>`;
    case 'u':
      return html`<u>${inside(node.children)}</u>`;
    case 's':
      return html`<s>${inside(node.children)}</s>`;
    case 'spoiler':
      return html`<span class="spoiler" tabindex="0">${inside(node.children)}</span>`;
    case 'link':
      return html`<a href=${node.href} target="_blank" rel="noopener noreferrer">${inside(node.children)}</a>`;
    case 'time':
      return html`<time class="stamp" title=${longTime(node.at)} data-style=${node.style} data-at=${node.at}
        .textContent=${styledTime(node.at, node.style)}></time>`;
    case 'command':
      return html`<span class="mention">/${node.name}</span>`;
    case 'everyone':
      return html`<span class="mention">${node.text}</span>`;
    case 'user':
      return html`<span class="mention">@${userOf(node.id) ? nameOf(node.id, guild) : 'unknown-user'}</span>`;
    case 'channel':
      return html`<span class="mention">#${channelOf(node.id)?.name ?? 'unknown'}</span>`;
    case 'role':
      return html`<span class="mention">@${guild?.roles.find(({ id }) => id === node.id)?.name ?? 'deleted-role'}</span>`;
  }
}

export function refreshTimes(): void {
  for (const stamp of document.querySelectorAll<HTMLElement>('time[data-style="R"]'))
    stamp.textContent = styledTime(Number(stamp.dataset.at), 'R');
}
