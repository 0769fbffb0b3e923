import type { APIButtonComponent } from 'discord.js';
import { namesOfFile } from '../../src/config/networks.ts';
import { hasSeveral, namedButton } from '../shared/networks.ts';
import type { Context } from '../shared/services.ts';

/** The result of one check: `fine`, a `fault` with its fix, a `hint` that may be intended, or a `note` for later. */
export interface Finding {
  tone: 'fault' | 'hint' | 'fine' | 'note';
  text: string;
  action?: APIButtonComponent | APIButtonComponent[];
}

export const fine = (text: string): Finding => ({ tone: 'fine', text });
export const note = (text: string): Finding => ({ tone: 'note', text });
export const hint = (text: string): Finding => ({ tone: 'hint', text });
export const fault = (text: string, action?: APIButtonComponent | APIButtonComponent[]): Finding => ({
  tone: 'fault',
  text,
  ...(action && { action }),
});

/** Findings, each with the networks that it is about where there are several: a sentence that holds for all is said once. */
export function byNetwork(checked: readonly { on: Context; findings: readonly Finding[] }[]): Finding[] {
  const all = checked.flatMap(({ on, findings }) => findings.map((finding) => ({ on, finding })));
  if (!checked.some(({ on }) => hasSeveral(on.settings))) return all.map(({ finding }) => finding);
  return [...Map.groupBy(all, ({ finding: { tone, text } }) => `${tone} ${text}`).values()].map((same) => {
    const { text, tone } = same[0]!.finding;
    const titles = same.map(({ on }) => on.network.title).join(' · ');
    const actions = same.flatMap(({ on, finding }) =>
      [finding.action ?? []].flat().flatMap((action) => namedButton(action, on)),
    );
    return { tone, text: `**${titles}**: ${namesOfFile(text)}`, ...(actions.length > 0 && { action: actions }) };
  });
}
