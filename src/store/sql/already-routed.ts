import { StoreError } from '../../errors.ts';

/** Deliveries have left the inbox since they were read: nothing is stored about them again. */
export const alreadyRouted = (): StoreError =>
  new StoreError('Deliveries have left the inbox since they were read; it is read again.', 'LEDGERBELL_ROUTED');
