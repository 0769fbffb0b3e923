import { hash } from 'node:crypto';

/** Tells in a button's custom id what was asked about from what has taken its place, without saying it. */
export const fingerprint = (text: string): string => hash('sha256', text).slice(0, 16);
