import { UserError } from '../../src/errors.ts';
import type { Failure } from '../../src/upstream/http.ts';

/** An upstream interface, as people know it, and what its operator can mend. */
interface Service {
  name: string;
  /** What a refusal may mean and what to do. */
  forbidden: string;
  /** What a request that is not accepted may mean. */
  rejected: string;
}

const SERVICES = {
  explorer: {
    name: 'The explorer',
    forbidden: 'It refused the bot. The person who runs this bot has to check `EXPLORER_API_KEY`.',
    rejected: 'It did not accept the question. The person who runs this bot has to check `EXPLORER_API_URL`.',
  },
  directory: {
    name: 'The provider directory',
    forbidden: 'It refused the bot. The person who runs this bot has to check `DISCOVERY_URL`.',
    rejected: 'It did not accept this search. Try another category (`/provider categories` lists them) or other words.',
  },
  notification: {
    name: 'The notification service',
    forbidden:
      'It refused (403). That is its answer to a wrong API secret, a wrong API key, a foreign project and an unknown ' +
      'webhook alike: check the webhook’s id with `/webhook list`, then the project’s keys.',
    rejected:
      'It did not accept the request. Check the webhook’s id with `/webhook list`, and that each address is a ' +
      'wallet or a token.',
  },
} satisfies Record<string, Service>;

/** What went wrong with a service and what to do, in a sentence or two. */
export function explain(failure: Failure, service: keyof typeof SERVICES): string {
  const { name, forbidden, rejected } = SERVICES[service];
  switch (failure.status) {
    case 'timeout':
      return `${name} did not answer in time. Try again in a minute.`;
    case 'unreachable':
      return `${name} cannot be reached right now. Try again in a few minutes.`;
    case 'forbidden':
      return `${name} said no. ${forbidden}`;
    case 'rejected':
      return `${name} said no. ${rejected}`;
    case 'limited':
      return `${name} gets too many questions right now. Wait a minute, then try again.`;
    case 'broken':
      return `${name} has a fault of its own (error ${failure.code}). Try again in a few minutes.`;
    case 'unreadable':
      return `${name} answered with something that is not data, perhaps a proxy’s page. Try again in a few minutes.`;
  }
}

/** Says that an interface is off, and who can change it. */
export function off(what: string, ...variables: string[]): UserError {
  const names = variables.map((name) => `\`${name}\``).join(', ');
  return new UserError(`${what} is off here. The person who runs this bot can turn it on by setting ${names}.`);
}
