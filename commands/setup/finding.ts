/** One thing that was looked at: `fine`, a `fault` with what to do, or a `hint` that may be as it should. */
export interface Finding {
  tone: 'fault' | 'hint' | 'fine';
  text: string;
}

export const fine = (text: string): Finding => ({ tone: 'fine', text });
export const hint = (text: string): Finding => ({ tone: 'hint', text });
export const fault = (text: string): Finding => ({ tone: 'fault', text });
