/** Pictures of people and servers, drawn here: no picture is loaded from anywhere. */
import { html, svg, type TemplateResult } from 'lit-html';
import { known } from './model.ts';

const colors = ['#5865f2', '#3ba55c', '#c27c0e', '#d83c3e', '#9b59b6', '#11806a', '#ad1457', '#206694'];

function colorOf(id: string): string {
  return colors[Number(BigInt(id) % BigInt(colors.length))]!;
}

/** A round picture; decorative, as the name always stands next to it. */
export function avatar(userId: string, name: string, small = false): TemplateResult {
  const bot = userId === known?.discord.botId;
  const drawing = bot
    ? svg`<rect width="64" height="64" fill="#5865f2"/><path fill="#fff" d="M32 13c-8.500 0-13.500 6-13.500 13.500V36l-4 6a1.700 1.700 0 0 0 1.400 2.600h32.200a1.700 1.700 0 0 0 1.400-2.600l-4-6v-9.500C45.500 19 40.500 13 32 13Zm-5.500 34.500a5.500 5.500 0 0 0 11 0Z"/>`
    : svg`<rect width="64" height="64" fill=${colorOf(userId)}/><text x="32" y="42" text-anchor="middle" font-size="28" font-weight="600" fill="#fff">${name.slice(0, 1)}</text>`;
  return html`<svg class=${small ? 'avatar small' : 'avatar'} viewBox="0 0 64 64" aria-hidden="true">${drawing}</svg>`;
}

/** A server's initials. */
export function initials(name: string): string {
  return name
    .split(/\s+/)
    .map((word) => word[0] ?? '')
    .join('')
    .slice(0, 3);
}
