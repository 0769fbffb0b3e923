import type { Client, Interaction } from 'discord.js';
import { type BackOff, backOff } from '../domain/back-off.ts';
import { MINUTE, SECOND } from '../domain/clock.ts';
import { reasonOf } from '../errors.ts';
import { installedHere } from './authority.ts';
import type { Reply } from './command.ts';
import { createCommandMentions } from './command-mentions.ts';
import { createDispatcher, type DispatcherOptions } from './interactions.ts';
import { registerCommands } from './register.ts';

const REGISTRATION_BACK_OFF: BackOff = { base: 4 * SECOND, max: MINUTE, jitter: 0.5 };

/** What serving the commands needs, and its callbacks. */
export interface ServedCommandsOptions<Services extends object>
  extends Omit<DispatcherOptions<Services>, 'commands' | 'link'> {
  /** Loads the commands; called when Discord is connected. */
  commands(): Promise<DispatcherOptions<Services>['commands']>;
  /** Somebody uses the bot in a guild that has its commands but not the bot as a member. */
  onGuildUsed(guildId: string): void;
  /** From 0 to 1. */
  random(): number;
}

/** Registers the commands and handles interactions. The commands are loaded when they are first needed. */
export function createServedCommands<Services extends object>(options: ServedCommandsOptions<Services>) {
  const { log, after, random } = options;
  let loading: ReturnType<typeof load> | undefined;
  /** Turns named commands into mentions, once Discord has sent the commands' IDs. */
  let link = (reply: Reply): Reply => reply;

  async function load() {
    const commands = await options.commands();
    return { commands, dispatch: createDispatcher({ ...options, commands, link: (reply) => link(reply) }) };
  }

  const loaded = () => (loading ??= load());

  /** Registers the commands; retries for as long as this client is in use, because Discord may be busy just after a start. */
  async function register(client: Client<true>, isInUse: () => boolean, attempt = 0): Promise<void> {
    if (!isInUse()) return;
    try {
      const { commands } = await loaded();
      const outcome = await registerCommands(client.rest, client.application.id, commands, (registered) => {
        link = createCommandMentions(registered);
      });
      log.info({ outcome, commands: commands.length }, 'commands registered');
    } catch (error) {
      if (!isInUse()) return;
      log.error({ reason: reasonOf(error) }, 'cannot register commands');
      after(backOff(attempt, REGISTRATION_BACK_OFF, random()), () => void register(client, isInUse, attempt + 1));
    }
  }

  return {
    /** Handles an interaction. Does nothing while the commands cannot be loaded, which `register` logs. */
    async handle(interaction: Interaction): Promise<void> {
      if (interaction.inRawGuild() && installedHere(interaction)) options.onGuildUsed(interaction.guildId);
      const served = await loaded().catch(() => null);
      await served?.dispatch(interaction);
    },
    /** Registers the commands with Discord, with retries for as long as the client is in use. */
    register: (client: Client<true>, isInUse: () => boolean): Promise<void> => register(client, isInUse),
  };
}
