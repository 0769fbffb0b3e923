/**
 * The stand-in's control interface, in JSON. The TypeScript API and the HTTP routes under `/_control` share these types:
 *
 * - `GET  /_control/state` → {@link State}
 * - `GET  /_control/events` → server-sent events, one {@link ControlEvent} in each `data:` line; the first is `reset`
 * - `GET  /_control/messages?channelId=<id>` → {@link MessageState}[] with histories, oldest first
 * - `GET  /_control/requests?after=<number>` → {@link RequestRecord}[], oldest first (the last 10,000 are kept)
 * - `POST /_control/interactions` {@link InteractionRequest} → {@link InteractionState}, once it is acknowledged
 *   or has failed; with `?wait=final` once the reply is more than "thinking…"
 * - `GET  /_control/interactions/<id>` → {@link InteractionState}
 * - `POST /_control/world` {@link WorldAction} → {@link WorldResult}
 * - `GET  /_control/faults` → {@link FaultState}[]; `POST` {@link FaultRule} → {@link FaultState};
 *   `DELETE /_control/faults` or `/_control/faults/<id>` → 204
 *
 * A request that is not possible gets 400 `{ "error": "<sentence>" }`. Objects that Discord itself defines
 * (messages, embeds, commands, modals) have exactly Discord's shape; everything around them is camelCase. Ids are
 * snowflakes as text, times are ISO 8601.
 */
export type * from './control-actions.ts';
export type * from './control-states.ts';
