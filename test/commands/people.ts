import {
  type APIActionRowComponent,
  type APIComponentInMessageActionRow,
  type APIStringSelectComponent,
  ComponentType,
} from 'discord.js';
import { request } from 'undici';
import { type Discord, type InteractionState, type OptionInput, seed } from '../../sandbox/discord/index.ts';

/** The acting user and the channel; by default Ada (the owner) in Harbor's #alerts. */
export interface Actor {
  as?: string;
  in?: string;
}

/** Actions of people in Discord, and the results that they see. Actions that a client would not offer are sent, too. */
export function createPeople(discord: Discord) {
  const place = ({ as = seed.ada, in: channelId = seed.harbor.alerts }: Actor) => ({ userId: as, channelId });

  function pressOn(on: Shown, start: string, userId: string) {
    const customId = buttonsOf(on).find((id) => id.startsWith(start));
    if (!customId) throw new Error(`No button ${start}; there are: ${buttonsOf(on).join(', ')}`);
    const { id: messageId, channelId } = on.reply!;
    return discord.use({ kind: 'button', messageId, customId, userId, channelId, unchecked: true });
  }

  const people = {
    async use(name: string, given: Record<string, OptionInput> = {}, who: Actor = {}): Promise<InteractionState> {
      const used = await discord.use({ kind: 'command', name, options: given, unchecked: true, ...place(who) });
      // A late refusal deletes the public reply and follows it.
      return used.until(
        ({ status, loading, reply, followups }) =>
          status !== 'waiting' && !loading && (!reply?.deleted || followups.length > 0),
      );
    },

    async read(name: string, given: Record<string, OptionInput> = {}, who: Actor = {}): Promise<string> {
      return textOf(await people.use(name, given, who));
    },

    /** Presses the first button of a reply whose custom ID starts like this, and waits for what it shows. */
    async press(on: Shown, start: string, who: Actor = {}): Promise<InteractionState> {
      const isNew = newerThan(on);
      return (await pressOn(on, start, place(who).userId)).until(isNew);
    },

    async useOn(messageId: string, name: string, who: Actor = {}): Promise<InteractionState> {
      const used = await discord.use({ kind: 'message-command', name, messageId, unchecked: true, ...place(who) });
      return used.final();
    },

    async choose(on: Shown, values: string[], who: Actor = {}): Promise<InteractionState> {
      const isNew = newerThan(on);
      const { id: messageId, channelId } = on.reply!;
      const chosen = { customId: menuOf(on).custom_id, values, unchecked: true };
      const used = await discord.use({ kind: 'select', messageId, ...chosen, ...place(who), channelId });
      return used.until(isNew);
    },

    /** Submits the form that an interaction opened; fields that are not named stay as they are. */
    async fill(
      on: InteractionState,
      values: Record<string, string | string[]>,
      who: Actor = {},
    ): Promise<InteractionState> {
      const used = await discord.use({ kind: 'modal', interactionId: on.id, values, unchecked: true, ...place(who) });
      return used.final();
    },

    /** Presses a button that opens a form; returns the refusal if it opens none. */
    async openFrom(on: Shown, start: string): Promise<InteractionState> {
      const pressed = await pressOn(on, start, seed.ada);
      return pressed.until(({ modal, reply, followups }) => Boolean(modal ?? reply) || followups.length > 0);
    },

    /** Presses a button that opens a form, and submits it. Like a client, sends fields that are not named as they are. */
    async fillFrom(on: Shown, start: string, values: Record<string, string | string[]>): Promise<InteractionState> {
      const isNew = newerThan(on);
      const opened = await people.openFrom(on, start);
      if (opened.modal === null) return opened;
      const used = await discord.use({
        kind: 'modal',
        interactionId: opened.id,
        values: { ...chosenIn(opened.modal), ...values },
        userId: seed.ada,
        channelId: on.reply!.channelId,
        unchecked: true,
      });
      return used.until(isNew);
    },

    /** Posts a message with one button as the bot, without a command; or with a menu that offers `choice`. */
    async post(customId: string, channelId: string = seed.harbor.alerts, choice?: string): Promise<Shown> {
      const one = choice
        ? { type: 3, custom_id: customId, options: [{ label: choice, value: choice }] }
        : { type: 2, style: 2, label: 'Press', custom_id: customId };
      const components = [{ type: 1, components: [one] }];
      const { body } = await request(`${discord.apiUrl}/v10/channels/${channelId}/messages`, {
        method: 'POST',
        headers: { authorization: `Bot ${discord.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ content: 'Posted', components }),
      });
      const { id } = (await body.json()) as { id: string };
      return { reply: discord.messages(channelId).find(({ message }) => message.id === id)!, followups: [] };
    },

    async choices(name: string, focused: string, given: Record<string, OptionInput> = {}, who: Actor = {}) {
      const used = await discord.use({ kind: 'autocomplete', name, focused, options: given, ...place(who) });
      return used.state.choices ?? [];
    },
  };
  return people;
}

function newerThan({ reply: before }: Shown): (state: InteractionState) => boolean {
  const { id, history } = before!;
  const versions = history.length;
  return ({ reply, loading, followups, status }) => {
    const isNew = reply !== null && (reply.id !== id || reply.history.length > versions);
    return status === 'failed' || followups.length > 0 || (isNew && !loading);
  };
}

function chosenIn(form: NonNullable<InteractionState['modal']>): Record<string, string[]> {
  const menus = form.components.flatMap((part) => ('component' in part ? [part.component] : []));
  return Object.fromEntries(
    menus.flatMap((menu): [string, string[]][] => {
      if (menu.type === ComponentType.StringSelect) {
        return [[menu.custom_id, menu.options.flatMap((one) => (one.default ? [one.value] : []))]];
      }
      return menu.type === ComponentType.RoleSelect
        ? [[menu.custom_id, (menu.default_values ?? []).map(({ id }) => id)]]
        : [];
    }),
  );
}

export type Shown = Pick<InteractionState, 'reply' | 'followups'>;

export function textOf({ reply, followups }: Shown): string {
  const messages = [reply, ...followups].filter((one) => one !== null);
  return messages
    .flatMap(({ message: { content, embeds } }) => [
      content,
      ...embeds.flatMap((embed) => [
        embed.author?.name,
        embed.title,
        embed.description,
        ...(embed.fields ?? []).flatMap(({ name, value }) => [name, value]),
        embed.footer?.text,
      ]),
    ])
    .filter(Boolean)
    .join('\n')
    .replaceAll(/<\/([^:>]+):\d+>/g, '`/$1`');
}

/** Whether only one person sees the reply. */
export function isPrivate({ reply, followups }: Shown): boolean {
  const seen = [reply, ...followups].filter((one) => one !== null && !one.deleted);
  return seen.length > 0 && seen.every((one) => one!.visibleTo !== null);
}

export function buttonsOf({ reply }: Shown): string[] {
  return componentsOf(reply).flatMap((one) => ('custom_id' in one ? [one.custom_id] : []));
}

export function menuOf({ reply }: Shown): APIStringSelectComponent {
  const rows = (reply?.message.components ?? []) as APIActionRowComponent<APIComponentInMessageActionRow>[];
  const found = rows.flatMap((row) => row.components).find((one) => one.type === ComponentType.StringSelect);
  if (!found) throw new Error('There is no menu.');
  return found;
}

export function linksOf({ reply }: Shown): { label: string; url: string }[] {
  return componentsOf(reply).flatMap((one) =>
    'url' in one ? [{ label: 'label' in one ? one.label! : '', url: one.url }] : [],
  );
}

function componentsOf(reply: InteractionState['reply']) {
  return (reply?.message.components ?? []).flatMap((row) =>
    'components' in row ? row.components.filter((one) => one.type === ComponentType.Button) : [],
  );
}
