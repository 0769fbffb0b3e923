import type { AnyCommand, Command } from '../src/discord/command.ts';
import { activity } from './activity.ts';
import { helpFor } from './help.ts';
import { label } from './label.ts';
import { provider } from './provider.ts';
import { setup } from './setup.ts';
import { NETWORK, namingNetworks } from './shared/networks.ts';
import type { Context } from './shared/services.ts';
import { status } from './status.ts';
import { subscription } from './subscription.ts';
import { token } from './token.ts';
import { watchMessage } from './watch.ts';
import { webhook } from './webhook.ts';
import { why } from './why.ts';

/** In the order of `/help`. */
const served: readonly AnyCommand<Context>[] = [
  subscription,
  watchMessage,
  why,
  activity,
  label,
  token,
  provider,
  webhook,
  setup,
  status,
];

/** Every command, with the options that it has where there are several networks. */
export const commands: readonly AnyCommand<Context>[] = [
  helpFor(served),
  ...served.map((command) => ('kind' in command ? command : namingNetworks(command))),
];

export const commandsFor = (networks: number): readonly AnyCommand<Context>[] =>
  networks > 1 ? commands : commands.map((command) => ('kind' in command ? command : withoutNetwork(command)));

function withoutNetwork(command: Command<Context>): Command<Context> {
  type Options = typeof command.data.options;
  const without = (options: Options): Options =>
    options
      ?.filter(({ name }) => name !== NETWORK)
      .map(
        (option) => ('options' in option ? { ...option, options: without(option.options) } : option) as typeof option,
      );
  const { options, ...data } = command.data;
  return { ...command, data: { ...data, ...(options && { options: without(options)! }) } };
}
