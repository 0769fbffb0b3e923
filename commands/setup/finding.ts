import type { APIButtonComponent } from 'discord.js';

/** The result of one check: `fine`, a `fault` with its fix, or a `hint` that may be intended. */
export interface Finding {
  tone: 'fault' | 'hint' | 'fine';
  text: string;
  /** A button that fixes it. */
  action?: APIButtonComponent;
}

export const fine = (text: string): Finding => ({ tone: 'fine', text });
export const hint = (text: string): Finding => ({ tone: 'hint', text });
export const fault = (text: string, action?: APIButtonComponent): Finding => ({
  tone: 'fault',
  text,
  ...(action && { action }),
});
