/** The interaction's token takes the place of the bot's. */
import type { MessageState } from './control.ts';
import type { Core } from './core.ts';
import { errors } from './errors.ts';
import { type Call, open, type Route } from './route.ts';

const WEBHOOK = '/webhooks/:application/:token';
const MESSAGE = `${WEBHOOK}/messages/:message`;

function tokenOf({ world }: Core, { params }: Call): string {
  if (params.application !== world.botId) throw errors.unknownWebhook();
  return params.token!;
}

const messageOf = (core: Core, call: Call): MessageState =>
  core.replies.message(tokenOf(core, call), call.params.message!);

export const INTERACTION_ROUTES: readonly Route[] = [
  open('POST', '/interactions/:interaction/:token/callback', ({ replies }, { params, query, body, uploads }) => {
    const resource = replies.respond(params.interaction!, params.token!, body, uploads);
    return query.with_response === 'true' ? resource : undefined;
  }),
  open('POST', WEBHOOK, (core, call) => core.replies.followUp(tokenOf(core, call), call.body, call.uploads).message),
  open('GET', MESSAGE, (core, call) => messageOf(core, call).message),
  open('PATCH', MESSAGE, (core, call) => {
    return core.replies.editMessage(tokenOf(core, call), call.params.message!, call.body, call.uploads).message;
  }),
  open('DELETE', MESSAGE, (core, call) => core.messages.remove(messageOf(core, call))),
];
