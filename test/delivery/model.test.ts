import { modelTest } from './model.ts';

modelTest({ numRuns: 20 });
