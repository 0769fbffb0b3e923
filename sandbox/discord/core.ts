import type { Base } from './base.ts';
import type { Commands } from './commands.ts';
import type { Faults } from './faults.ts';
import type { Files } from './files.ts';
import type { Gateway } from './gateway.ts';
import type { Interactions } from './interactions.ts';
import type { Limits } from './limits.ts';
import type { Messages } from './messages.ts';
import type { Replies } from './replies.ts';
import type { RequestLog } from './request-log.ts';

export interface Core extends Base {
  readonly messages: Messages;
  readonly files: Files;
  readonly commands: Commands;
  readonly interactions: Interactions;
  readonly replies: Replies;
  readonly gateway: Gateway;
  readonly faults: Faults;
  readonly limits: Limits;
  readonly log: RequestLog;
}
