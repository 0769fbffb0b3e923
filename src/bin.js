#!/usr/bin/env node
/** The command `ledgerbell` after `npm link`: what `npm run ledgerbell --` does. Plain JavaScript, see node-version.js. */
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import { setFlagsFromString } from 'node:v8';
import './node-version.js';

// As in the npm scripts.
setFlagsFromString('--wasm-wrapper-tiering-budget=2000000000');
if (existsSync('.env')) loadEnvFile('.env');
await import('./ledgerbell.ts');
