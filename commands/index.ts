import type { AnyCommand } from '../src/discord/command.ts';
import { activity } from './activity.ts';
import { helpFor } from './help.ts';
import { label } from './label.ts';
import { provider } from './provider.ts';
import { setup } from './setup.ts';
import type { CommandContext } from './shared/services.ts';
import { status } from './status.ts';
import { subscription } from './subscription.ts';
import { token } from './token.ts';
import { watchMessage } from './watch.ts';
import { webhook } from './webhook.ts';
import { why } from './why.ts';

const served: readonly AnyCommand<CommandContext>[] = [
  activity,
  label,
  provider,
  setup,
  status,
  subscription,
  token,
  watchMessage,
  webhook,
  why,
];

/** Every command that is registered and served. */
export const commands: readonly AnyCommand<CommandContext>[] = [helpFor(served), ...served];
