/** The bot, but it compares with the chain every 15 seconds instead of every minute. */
import '../src/node.js';
import { SECOND } from '../src/domain/clock.ts';
import { start } from '../src/start.ts';

await start({ chainRoundMs: 15 * SECOND });
