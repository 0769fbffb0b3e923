/** A promise that is broken on purpose: an export of a module is replaced, and one of the tests must notice. */
export interface Mutant {
  name: string;
  file: string;
  export: string;
  /** Returns what replaces the export. */
  replace(real: unknown): unknown;
  tests: string[];
}

/** Mutants of one module, typed by it: the compiler checks that the exports exist and the replacements fit. */
export const mutantsOf =
  <Module extends object>(file: string) =>
  <Name extends keyof Module & string>(
    name: string,
    exported: Name,
    replace: (real: Module[Name]) => Module[Name],
    tests: string[],
  ): Mutant => ({ name, file, export: exported, replace: replace as Mutant['replace'], tests });

/** Replaces some methods of an object. */
export const change = <T extends object>(thing: T, methods: Partial<T>): T => Object.assign(thing, methods);
