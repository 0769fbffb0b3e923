import { setFlagsFromString } from 'node:v8';

/** Checks and prepares Node, before everything else. JavaScript, because a Node that is too old cannot read TypeScript. */

const MIN_MAJOR = 24;

if (Number(process.versions.node.split('.')[0]) < MIN_MAJOR) {
  process.stderr.write(
    `Ledgerbell cannot start: it needs Node ${MIN_MAJOR} or newer, and this is ${process.version}. ` +
      `On Linux (x64 and arm64) "npm ci" installs the right one; elsewhere, install it yourself (https://nodejs.org).\n`,
  );
  process.exit(78);
}

// Against a crash of V8; see docs/decisions/start-up.md.
setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');
