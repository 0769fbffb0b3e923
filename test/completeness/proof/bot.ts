import '../../../src/node.js';
import { start } from '../../../src/start.ts';

/** The bot, which compares with the chain all the time, and waits for a node for half a second. */
await start({ chainRoundMs: 100, upstreamTimeoutMs: 500 });
