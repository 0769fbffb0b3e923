import type dispatcher from './en-US/dispatcher.json';

/** Every English text, by namespace: the keys that a translation must have. */
export interface English {
  dispatcher: typeof dispatcher;
}
