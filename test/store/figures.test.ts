import { expect, it } from 'vitest';
import { figuresTable } from '../../src/store/sqlite/figures.ts';
import { openHere, put, putTransfer } from './opened.ts';

const NOW = 1_000;

it('of an empty database there is nothing to tell', () => {
  expect(figuresTable(openHere()).backlog(NOW)).toEqual({
    inbox: { waiting: 0, oldest: null },
    quarantine: { rows: 0, bytes: 0 },
    alerts: { due: 0, held: 0, closed: 0, oldest: null },
    frozen: 0,
    deadLetters: 0,
    channels: { parked: 0, paused: 0 },
  });
});

it('what waits in the inbox is counted with the time of the oldest, what was set aside with its bytes', () => {
  const db = openHere();
  for (const at of [30, 10, 20]) put(db, 'inbox', { scope: 0, received_at: at, body: 'x' });
  for (const body of ['abc', 'defgh']) put(db, 'quarantine', { scope: 0, received_at: 5, reason: 'r', body });
  expect(figuresTable(db).backlog(NOW)).toMatchObject({
    inbox: { waiting: 3, oldest: 10 },
    quarantine: { rows: 2, bytes: 8 },
  });
});

it('an alert is due, held for later or kept for a closed channel; its age begins when it could have been told', () => {
  const db = openHere();
  const alert = (channel_id: string, created_at: number, due_at: number, state = 'waiting') => {
    const row = { guild_id: 'g', channel_id, matches: '[]', created_at, due_at, state };
    return put(db, 'alerts', { ...row, transfer_id: putTransfer(db, 1) });
  };
  for (const [channel_id, state] of Object.entries({ open: 'ready', parked: 'parked', paused: 'paused' })) {
    put(db, 'channels', { channel_id, guild_id: 'g', state });
  }
  const alerts = () => figuresTable(db).backlog(NOW).alerts;
  alert('open', 1, NOW + 1);
  alert('parked', 2, 0);
  alert('paused', 3, NOW + 1);
  alert('open', 4, 0, 'sent');
  expect(alerts()).toEqual({ due: 0, held: 1, closed: 2, oldest: null });
  alert('open', 5, NOW);
  expect(alerts()).toEqual({ due: 1, held: 1, closed: 2, oldest: NOW });
  // Nothing is known of this channel yet.
  alert('new', 600, 0);
  alert('open', 700, 0);
  expect(alerts()).toEqual({ due: 3, held: 1, closed: 2, oldest: 600 });
});
