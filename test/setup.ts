import { afterAll } from 'vitest';
import { endFile } from './for-file.ts';

// Vitest loads this again for each file of tests. Other modules stay loaded.
afterAll(endFile);
