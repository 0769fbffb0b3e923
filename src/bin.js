#!/usr/bin/env node
/** `ledgerbell`, as npm's scripts run it: reads .env, which the image and the sandbox must not. JavaScript, as node.js is. */
import './node.js';
import { existsSync } from 'node:fs';

try {
  process.loadEnvFile('.env');
} catch {
  // There may be none: the environment then has all settings, or what is missing is named later.
  if (existsSync('.env')) {
    process.stderr.write(
      'Ledgerbell cannot start: it cannot read the file .env. Make it a file that the user who runs the bot can read, or ' +
        'delete it if all settings are in the environment.\n',
    );
    process.exit(78);
  }
}
if (process.argv.length === 2) process.argv.push('--help');
await import('./main.ts');
