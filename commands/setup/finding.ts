import type { APIButtonComponent } from 'discord.js';

/** One thing that was looked at: `fine`, a `fault` with what to do, or a `hint` that may be as it should. */
export interface Finding {
  tone: 'fault' | 'hint' | 'fine';
  text: string;
  /** A button that mends it. */
  action?: APIButtonComponent;
}

export const fine = (text: string): Finding => ({ tone: 'fine', text });
export const hint = (text: string): Finding => ({ tone: 'hint', text });
export const fault = (text: string, action?: APIButtonComponent): Finding => ({
  tone: 'fault',
  text,
  ...(action && { action }),
});
