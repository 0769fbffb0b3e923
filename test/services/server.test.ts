import { pino } from 'pino';
import { expect, it } from 'vitest';
import { openServer } from '../../services/server.ts';

it('logs why a request failed, and responds without the reason', async () => {
  const lines: string[] = [];
  const server = openServer(pino({}, { write: (line: string) => void lines.push(line) }));
  server.get('/metrics', async () => {
    throw new Error('The file is damaged.');
  });
  const { statusCode, body } = await server.inject('/metrics');
  expect([statusCode, JSON.parse(body)]).toEqual([500, { error: { message: 'The request failed. Try again later.' } }]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'request failed', err: { message: 'The file is damaged.' } },
  ]);
  await server.close();
});
