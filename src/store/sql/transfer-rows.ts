import type { SeenDelivery, SeenTransfer } from '../../domain/identity.ts';
import type { StoredDelivery } from '../../domain/routing.ts';

/** What rows of transfers and their deliveries mean, whatever engine they are from. */

/** What is stored about a transfer; data is JSON. */
export interface TransferRow extends Omit<SeenTransfer, 'id' | 'reorganized' | 'transfer'> {
  id: number;
  reorganized: boolean | 0 | 1;
  data: string;
}

/** What is stored about a delivery; what is not a single value is JSON. {@link SeenDelivery} explains the fields. */
export type DeliveryRow<Delivery extends SeenDelivery = SeenDelivery> = Omit<
  Delivery,
  'unacknowledged' | 'firstMinute' | 'ids' | 'places'
> & {
  unacknowledged: boolean | 0 | 1;
  firstMinute: string | null;
  ids: string | null;
  places: string | null;
};

/** Creates a transfer from its row. */
export const toSeenTransfer = ({ data, reorganized, ...row }: TransferRow): SeenTransfer & { id: number } => ({
  ...row,
  reorganized: Boolean(reorganized),
  transfer: JSON.parse(data) as SeenTransfer['transfer'],
});

/** Creates a delivery from its row. */
export const toSeenDelivery = ({ unacknowledged, firstMinute, ids, places, ...row }: DeliveryRow): SeenDelivery => ({
  ...row,
  unacknowledged: Boolean(unacknowledged),
  firstMinute: firstMinute === null ? null : (JSON.parse(firstMinute) as SeenDelivery['firstMinute']),
  ids: ids === null ? [] : (JSON.parse(ids) as string[]),
  places: places === null ? [] : (JSON.parse(places) as string[]),
});

/** What a delivery's row contains. */
export const toDeliveryRow = ({
  firstMinute,
  ids,
  places,
  ...delivery
}: StoredDelivery): DeliveryRow<StoredDelivery> => ({
  ...delivery,
  firstMinute: firstMinute && JSON.stringify(firstMinute),
  ids: ids.length > 0 ? JSON.stringify(ids) : null,
  places: places.length > 0 ? JSON.stringify(places) : null,
});
