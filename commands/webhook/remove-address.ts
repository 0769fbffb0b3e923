import { type APIButtonComponent, ButtonStyle } from 'discord.js';
import type { Button } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { operatorScope } from '../../src/domain/project.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import { record } from '../shared/audit.ts';
import { button } from '../shared/components.ts';
import { explain } from '../shared/failure.ts';
import { watchedHere } from '../shared/networks.ts';
import { readAddress } from '../shared/read-address.ts';
import { addressInCode, embedReply } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { type Posting, postingHere, projectOf, SOON_MS, withAddresses } from '../shared/webhooks.ts';

/** The subscriptions to these addresses, of all guilds that get one scope's events. */
export async function watchersOf(addresses: AddressText[], scope: number, context: Context): Promise<Subscription[]> {
  const { subscriptions, storedProjects, network } = context;
  const [all, projects] = await Promise.all([subscriptions.watching(addresses), storedProjects.all()]);
  const own = projects.filter((project) => project.network === network.id);
  const scopes = new Map(own.map((project) => [project.guildId, project.scope]));
  // Guilds with other receiver URLs get no events from this one.
  return watchedHere(all, context).filter((one) => (scopes.get(one.guildId) ?? operatorScope(network.id)) === scope);
}

/** The button that removes an address from the webhook; null unless a webhook may have it and nobody watches it anymore. */
export async function offerAddressRemoval(
  guildId: string,
  address: AddressText,
  context: Context,
): Promise<APIButtonComponent | null> {
  const access = await context.projects.of(guildId);
  if (access.status !== 'ready' || (await watchersOf([address], access.scope, context)).length > 0) return null;
  const here = await postingHere(access, context, SOON_MS);
  if (here.status !== 'ok') return null;
  const chosen = await context.storedProjects.chosenWebhook(guildId, context.network.id);
  if (holding(await withAddresses(access, here.webhooks), address, chosen).length === 0) return null;
  const label = context.t('webhook.removeAddress.button');
  return button(label, `webhook:drain:${checksumAddress(address)}`, ButtonStyle.Danger);
}

/**
 * The webhooks that are known to have an address. Where the service does not show it, this is the one that somebody
 * chose: removing an address that is not there is safe.
 */
function holding(posting: readonly Posting[], address: AddressText, chosen: string | null): string[] {
  const known = posting.flatMap(({ id, addresses }) => (id !== null && addresses?.has(address) ? [id] : []));
  const mayHave = posting.some(({ id, addresses }) => addresses === null && (id === null || id === chosen));
  return known.length === 0 && mayHave && chosen !== null ? [chosen] : known;
}

/** `webhook:drain:<address>`: removes an address from the webhooks that post here, unless somebody watches it again. */
export const removeAddressButton: Button<Context> = {
  async press(interaction, [typed = ''], context) {
    const { t } = context;
    const project = await projectOf(context, interaction.guildId);
    const address = readAddress(typed, t);
    const line = `-# ${addressInCode(address)}`;
    if ((await watchersOf([address], project.scope, context)).length > 0) {
      return embedReply('info', t('webhook.removeAddress.neededTitle'), [line, t('webhook.removeAddress.needed')]);
    }
    const here = await postingHere(project, context);
    if (here.status !== 'ok') throw new UserError(explain(t, here, 'notification'));
    const chosen = await context.storedProjects.chosenWebhook(interaction.guildId, context.network.id);
    const webhooks = holding(await withAddresses(project, here.webhooks), address, chosen);
    let isChanged = false;
    for (const webhook of webhooks) {
      const response = await project.notification.removeAddresses(webhook, [checksumAddress(address)]);
      const detail = { webhook, addresses: [address] };
      if (response.status !== 'ok') {
        await record(interaction, context, 'webhook.remove.failed', { ...detail, outcome: response.status });
        throw new UserError(explain(t, response, 'notification'));
      }
      await record(interaction, context, 'webhook.remove', { ...detail, outcome: response });
      isChanged ||= response.deletedCount !== 0;
    }
    if (!isChanged) return embedReply('info', t('webhook.remove.nothingDone'), [line, t('webhook.remove.noneThere')]);
    return embedReply('good', t('webhook.removeAddress.done'), [line]);
  },
};
