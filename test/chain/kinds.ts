import { findAnvil } from '../../sandbox/chain/anvil.ts';

/** Whether what needs anvil is tested: where there is one for the platform, and in CI, which must have it. */
export const hasAnvil = findAnvil() !== null || process.env.CI !== undefined;
if (!hasAnvil) console.warn('There is no anvil for this platform, so what needs one is not tested.');
