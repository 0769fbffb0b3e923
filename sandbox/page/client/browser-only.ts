// @ts-expect-error This folder runs in a browser. Node's types come in with any import that refers to them, types included.
export type NodeIsUnknown = NodeJS.Process;
