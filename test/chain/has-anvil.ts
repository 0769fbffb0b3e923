import { findAnvil } from '../../sandbox/chain/anvil.ts';

/** Whether tests that need anvil run: where the platform has one, and in CI, which must have it. */
export const HAS_ANVIL = findAnvil() !== null || process.env.CI !== undefined;
if (!HAS_ANVIL) console.warn('There is no anvil for this platform, so what needs one is not tested.');
