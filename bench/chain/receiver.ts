import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../children.ts';

/** A receiver as a separate process, which returns 200 at once and counts. */

/** The deliveries so far. */
export interface Arrived {
  count: number;
  /** When the last one arrived, in milliseconds since 1970. */
  last: number;
}

const arrived: Arrived = { count: 0, last: 0 };
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    arrived.count++;
    arrived.last = Date.now();
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  serve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }, () => arrived);
});
