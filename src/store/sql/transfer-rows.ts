import type { SeenDelivery, SeenTransfer } from '../../domain/identity.ts';
import type { StoredDelivery } from '../../domain/routing.ts';

/** What rows of transfers and their deliveries mean, whatever engine they are from. */

/** What is stored about a transfer; data is JSON. */
export interface TransferRow extends Omit<SeenTransfer, 'id' | 'reorganized' | 'transfer'> {
  id: number;
  reorganized: boolean | 0 | 1;
  data: string;
}

/** What is stored about a delivery; `minute` and `names` are JSON. {@link SeenDelivery} explains the fields. */
export type DeliveryRow<Delivery extends SeenDelivery = SeenDelivery> = Omit<Delivery, 'owed' | 'minute' | 'names'> & {
  owed: boolean | 0 | 1;
  minute: string | null;
  names: string | null;
};

/** Creates a transfer from its row. */
export const toSeenTransfer = ({ data, reorganized, ...row }: TransferRow): SeenTransfer & { id: number } => ({
  ...row,
  reorganized: Boolean(reorganized),
  transfer: JSON.parse(data) as SeenTransfer['transfer'],
});

/** Creates a delivery from its row. */
export const toSeenDelivery = ({ owed, minute, names, ...row }: DeliveryRow): SeenDelivery => ({
  ...row,
  owed: Boolean(owed),
  minute: minute === null ? null : (JSON.parse(minute) as SeenDelivery['minute']),
  names: names === null ? [] : (JSON.parse(names) as string[]),
});

/** What a delivery's row contains. */
export const toDeliveryRow = ({ minute, names, ...delivery }: StoredDelivery): DeliveryRow<StoredDelivery> => ({
  ...delivery,
  minute: minute && JSON.stringify(minute),
  names: names.length > 0 ? JSON.stringify(names) : null,
});
