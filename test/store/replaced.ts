import type { Store } from '../../src/store/store.ts';

/** Methods of the port, by group, that a test puts in the place of the real ones. */
export type Replaced = (real: Store) => { [Group in keyof Store]?: Partial<Store[Group]> };

export function replaceMethods(real: Store, replaced: Replaced): Store {
  const groups = Object.entries(replaced(real)).map(([group, methods]) => [
    group,
    { ...real[group as keyof Store], ...methods },
  ]);
  return { ...real, ...Object.fromEntries(groups) };
}
