/** REST: the bot's responses to interactions. The token in the path is their only credential. */
import type { Core } from './core.ts';
import { errors } from './errors.ts';
import { type Call, NO_CONTENT, ok, type Route } from './route.ts';

/** The routes whose path contains an interaction's token. */
export function interactionRoutes(core: Core): Route[] {
  const { replies } = core;
  const root = '/webhooks/:application/:token';

  function token({ params }: Call): string {
    if (params.application !== core.world.botId) throw errors.unknownWebhook();
    return params.token!;
  }

  return [
    {
      method: 'POST',
      path: '/interactions/:interaction/:token/callback',
      open: true,
      run: ({ params, query, body, uploads }) => {
        const resource = replies.respond(params.interaction!, params.token!, body, uploads);
        return query.with_response === 'true' ? ok(resource) : NO_CONTENT;
      },
    },
    {
      method: 'POST',
      path: root,
      open: true,
      run: (call) => ok(replies.followUp(token(call), call.body, call.uploads).message),
    },
    {
      method: 'GET',
      path: `${root}/messages/:message`,
      open: true,
      run: (call) => ok(replies.message(token(call), call.params.message!).message),
    },
    {
      method: 'PATCH',
      path: `${root}/messages/:message`,
      open: true,
      run: (call) => {
        const { message } = replies.editMessage(token(call), call.params.message!, call.body, call.uploads);
        return ok(message);
      },
    },
    {
      method: 'DELETE',
      path: `${root}/messages/:message`,
      open: true,
      run: (call) => {
        replies.deleteMessage(token(call), call.params.message!);
        return NO_CONTENT;
      },
    },
  ];
}
