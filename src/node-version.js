/** Ends the start where Node is too old. Plain JavaScript, because such a Node cannot read TypeScript. */

const LEAST = 24;

if (Number(process.versions.node.split('.')[0]) < LEAST) {
  process.stderr.write(
    `Ledgerbell cannot start: it needs Node ${LEAST} or newer, and this is ${process.version}. ` +
      `On Linux (x64 and arm64) "npm ci" installs the right one; elsewhere, install it yourself (https://nodejs.org).\n`,
  );
  process.exit(78);
}
