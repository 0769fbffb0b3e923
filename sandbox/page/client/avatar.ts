/** All are drawn here, so nothing is loaded. */
import { html, svg, type TemplateResult } from 'lit-html';
import { model } from './model.ts';

const COLORS = ['#5865f2', '#3ba55c', '#c27c0e', '#d83c3e', '#9b59b6', '#11806a', '#ad1457', '#206694'];

function colorOf(id: string): string {
  return COLORS[Number(BigInt(id) % BigInt(COLORS.length))]!;
}

/** Decorative: the name is always next to it. */
export function avatar(userId: string, name: string, small = false): TemplateResult {
  const bot = userId === model?.discord.botId;
  const drawing = bot
    ? svg`<rect width="64" height="64" fill="#5865f2"/><path fill="#fff" d="M32 13c-8.5 0-13.5 6-13.5 13.5V36l-4 6a1.7 1.7 0 0 0 1.4 2.6h32.2a1.7 1.7 0 0 0 1.4-2.6l-4-6v-9.5C45.5 19 40.5 13 32 13Zm-5.5 34.5a5.5 5.5 0 0 0 11 0Z"/>`
    : svg`<rect width="64" height="64" fill=${colorOf(userId)}/><text x="32" y="42" text-anchor="middle" font-size="28" font-weight="600" fill="#fff">${name.slice(0, 1)}</text>`;
  return html`<svg class=${small ? 'avatar small' : 'avatar'} viewBox="0 0 64 64" aria-hidden="true">${drawing}</svg>`;
}

export function initials(name: string): string {
  return name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .join('')
    .slice(0, 3);
}

const SHAPES = {
  menu: 'M4 6h16M4 12h16M4 18h16',
  world: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  close: 'M6 6l12 12M18 6 6 18',
  lock: 'M6 11h12v9H6ZM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  hash: 'M5 9h15M4 15h15M10 4 8 20M16 4l-2 16',
  thread: 'M6 4v8a4 4 0 0 0 4 4h8M15 13l3 3-3 3',
  news: 'M4 10v4h3l8 4V6l-8 4ZM18.5 9.5a4 4 0 0 1 0 5M8 15v4h2.5v-3',
  change: 'M8 4v16M8 4 5 7M8 4l3 3M16 20V4M16 20l-3-3M16 20l3-3',
  system: 'M12 4a8 8 0 1 0 0 16ZM12 4a8 8 0 0 1 0 16',
  dark: 'M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10Z',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5',
};

export function icon(name: keyof typeof SHAPES): TemplateResult {
  return html`<svg class="drawn" viewBox="0 0 24 24" aria-hidden="true"><path d=${SHAPES[name]}></path></svg>`;
}
