import { setFlagsFromString } from 'node:v8';

/** Against a crash. Imported before everything else; see docs/decisions/start-up.md. */
setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');
