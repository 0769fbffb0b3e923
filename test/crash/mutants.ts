import { SECOND } from '../../src/domain/clock.ts';
import { SQLITE_MUTANTS } from '../store/sqlite/mutants.ts';
import { change, type Mutant, mutantsOf } from './mutant.ts';

/** The promises that `npm run test:mutants` breaks, one by one. */

const intake = mutantsOf<typeof import('../../src/receiver/intake.ts')>('src/receiver/intake.ts');
const identity = mutantsOf<typeof import('../../src/domain/identity.ts')>('src/domain/identity.ts');
const events = mutantsOf<typeof import('../../src/routing/decide-event.ts')>('src/routing/decide-event.ts');
const signals = mutantsOf<typeof import('../../src/routing/scam-signals.ts')>('src/routing/scam-signals.ts');
const sender = mutantsOf<typeof import('../../src/discord/sender.ts')>('src/discord/sender.ts');
const decisions = mutantsOf<typeof import('../../src/delivery/decide.ts')>('src/delivery/decide.ts');
const outcomes = mutantsOf<typeof import('../../src/delivery/apply-outcome.ts')>('src/delivery/apply-outcome.ts');
const errors = mutantsOf<typeof import('../../src/errors.ts')>('src/errors.ts');

const SECOND_TRANSFER_MS = 10 * SECOND;

const acknowledgesEarly: Parameters<typeof intake<'createIntake'>>[2] = (createIntake) => (options) => {
  const real = createIntake(options);
  const { store } = real;
  return change(real, {
    store(ticket, body, onResult) {
      store(ticket, body, () => undefined);
      setImmediate(() => onResult('stored'));
    },
  });
};

/** Early responses, mistaken identities, lost or doubled messages: what would lose an event or post it twice. */
export const MUTANTS: Mutant[] = [
  ...SQLITE_MUTANTS,
  intake('acknowledges before the commit', 'createIntake', acknowledgesEarly, ['test/receiver/server.test.ts']),
  intake('acknowledges before the commit (and the process is killed)', 'createIntake', acknowledgesEarly, [
    'test/crash/crash.test.ts',
  ]),
  identity(
    'counts a retry as another transfer',
    'judge',
    (judge) =>
      (known, transferKnown, keys, receipt, ...rest) => {
        const judged = judge(known, transferKnown, keys, receipt, ...rest);
        if (!known || known.unacknowledged || known.ackedAt === null || judged.verdict !== 'repeat') return judged;
        if (Math.abs(receipt.receivedAt - known.ackedAt) >= SECOND_TRANSFER_MS) return judged;
        return { verdict: 'second', delivery: { ...judged.delivery, count: known.count + 1 } };
      },
    ['test/domain/identity.test.ts'],
  ),
  identity(
    'forgets known deliveries',
    'judge',
    (judge) =>
      (_known, ...rest) =>
        judge(undefined, ...rest),
    ['test/routing/identity.test.ts'],
  ),
  identity(
    'counts a lost 200 as received',
    'judge',
    (judge) =>
      (known, transferKnown, keys, { receivedAt, ackedAt }, ...rest) =>
        judge(known, transferKnown, keys, { receivedAt, ackedAt: ackedAt ?? receivedAt }, ...rest),
    ['test/routing/identity.test.ts'],
  ),
  identity(
    'counts repeats as second transfers after the clock was set back',
    'judge',
    (judge) =>
      (known, transferKnown, keys, receipt, ...rest) => {
        const receivedAt = Math.max(receipt.receivedAt, known?.ackedAt ?? 0);
        return judge(known, transferKnown, keys, { ...receipt, receivedAt }, ...rest);
      },
    ['test/delivery/clock-jumps.test.ts'],
  ),
  signals(
    'learns counterparties from look-alikes',
    'counterpartyToLearn',
    (counterpartyToLearn) =>
      (watcher, transfer, warnings, ...rest) =>
        counterpartyToLearn(
          watcher,
          transfer,
          warnings.filter(({ kind }) => kind !== 'look-alike'),
          ...rest,
        ),
    ['test/pipeline/guard.test.ts'],
  ),
  events(
    'lets a transfer return to an abandoned block',
    'decideEvent',
    (decideEvent) => (item, ackedAt, state) => {
      const transfers = new Map(state.transfers);
      const seen = transfers.get(item.keys.transfer);
      if (seen) transfers.set(seen.key, { ...seen, transfer: { ...seen.transfer, left: [] } });
      return decideEvent(item, ackedAt, { ...state, transfers });
    },
    ['test/routing/identity.test.ts'],
  ),
  sender(
    'repeats a message with a new nonce',
    'createSender',
    (createSender) => (options) => {
      const real = createSender(options);
      const { create } = real;
      return change(real, {
        create: (channelId, payload, _nonce, csv) => create(channelId, payload, String(Math.random()), csv),
      });
    },
    ['test/delivery/send.test.ts'],
  ),
  sender(
    'never searches for a message that may be posted',
    'createSender',
    (createSender) => (options) => change(createSender(options), { find: async () => ({ status: 'absent' }) }),
    ['test/delivery/send.test.ts'],
  ),
  decisions(
    'trusts the response to a repeat about the first attempt',
    'decide',
    (decide) => (outcome, batch, situation) => decide(outcome, { ...batch, certain: true }, situation),
    ['test/delivery/send.test.ts'],
  ),
  errors(
    'mistakes a failing database for an alert that cannot be rendered',
    'StoreError',
    (StoreError) =>
      class extends StoreError {
        static override [Symbol.hasInstance] = () => false;
      },
    ['test/delivery/unrenderable.test.ts'],
  ),
  outcomes(
    'blocks a channel with an alert that cannot be rendered',
    'createOutcomes',
    (createOutcomes) => (options) =>
      change(createOutcomes(options), { unrenderable: (_channel, _alerts, error) => Promise.reject(error) }),
    ['test/delivery/unrenderable.test.ts'],
  ),
];
