#!/usr/bin/env node
/** The command `ledgerbell` after `npm link`: what `npm run ledgerbell --` does. Plain JavaScript, see node-version.js. */
import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';
import './node-version.js';

if (existsSync('.env')) loadEnvFile('.env');
await import('./ledgerbell.ts');
