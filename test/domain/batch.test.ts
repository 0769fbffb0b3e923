import { expect, it } from 'vitest';
import { sendingOrder } from '../../src/domain/batch.ts';

const NONE = { message: null, change: null, label: null };

it('sends a frozen message and then a change before due alerts, and a label after them', () => {
  expect(sendingOrder({ message: 3, change: 1, label: 2 }, true)).toMatchObject({ beforeAlerts: 3, afterAlerts: 2 });
  expect(sendingOrder({ ...NONE, change: 2, label: 1 }, true)).toMatchObject({ beforeAlerts: 2, afterAlerts: 1 });
  expect(sendingOrder(NONE, true)).toEqual({ beforeAlerts: null, afterAlerts: null, waits: false });
});

it('lets changes and labels wait until sent messages may be changed', () => {
  for (const one of [{ change: 1 }, { label: 1 }])
    expect(sendingOrder({ ...NONE, ...one }, false)).toEqual({ beforeAlerts: null, afterAlerts: null, waits: true });
  expect(sendingOrder({ ...NONE, message: 1 }, false)).toEqual({ beforeAlerts: 1, afterAlerts: null, waits: false });
});
