import type { Command, CommandContext, Reply } from '../src/discord/command.ts';
import { inCode } from '../src/domain/text.ts';
import { UserError } from '../src/errors.ts';
import type { Webhook } from '../src/upstream/notification.ts';
import { define } from './parts/define.ts';
import { explain } from './parts/failure.ts';
import { pointsAt, projectOf } from './parts/project.ts';
import { count, note, press, row } from './parts/reply.ts';
import { cancelButton, confirmButton, forgetButton, preview } from './webhook/remove.ts';

/** How long choices may wait for the service. */
const CHOICES_MS = 1_500;

/** The webhooks of the project at the notification service. */
export const webhook = {
  data: define('webhook', 'The webhooks of the notification project')
    .addSubcommand((command) =>
      command.setName('list').setDescription('The project’s webhooks, and which of them point at this bot'),
    )
    .addSubcommand((command) =>
      command
        .setName('remove')
        .setDescription('Take addresses out of a webhook; shows a preview first')
        .addStringOption((option) =>
          option
            .setName('webhook')
            .setDescription('The webhook’s id')
            .setRequired(true)
            .setAutocomplete(true)
            .setMaxLength(100),
        )
        .addStringOption((option) =>
          option
            .setName('addresses')
            .setDescription('One or many, with spaces, commas or line breaks between them')
            .setRequired(true)
            .setMaxLength(6_000),
        ),
    ),
  access: 'manage',
  async execute(interaction, context) {
    const name = interaction.options.getSubcommand();
    return name === 'list' ? list(interaction.guildId, context) : preview(interaction, context);
  },
  async autocomplete({ guildId, options }, context) {
    const access = await context.projects.of(guildId);
    const answer = access.status === 'ready' ? await access.notification.webhooks(CHOICES_MS) : null;
    if (access.status !== 'ready' || answer?.status !== 'ok') return [];
    const urls = context.receiver.urls(access.scope);
    const typed = options.getFocused().trim().toLowerCase();
    return answer.webhooks.flatMap((one) => {
      const { id } = one;
      if (id === null || !id.toLowerCase().includes(typed)) return [];
      const parts = [id, one.eventType, pointsAt(urls, one.url) ? 'points here' : hostOf(one)];
      return [{ name: parts.filter(Boolean).join(' · '), value: id }];
    });
  },
  buttons: { confirm: confirmButton, cancel: cancelButton, forget: forgetButton },
} satisfies Command;

async function list(guildId: string, context: CommandContext): Promise<Reply> {
  const { notification, scope } = await projectOf(context, guildId);
  const answer = await notification.webhooks();
  if (answer.status !== 'ok') throw new UserError(explain(context.t, answer, 'notification'));
  const { webhooks } = answer;
  const urls = context.receiver.urls(scope);
  const here = webhooks.filter((one) => pointsAt(urls, one.url)).length;
  const lines = webhooks.flatMap((one) => [
    `**${inCode(one.eventType, 'unknown events')}** ${pointsAt(urls, one.url) ? '→ this bot ✅' : `→ ${inCode(hostOf(one), 'unknown receiver')}`}`,
    one.id === null ? '-# the service does not tell its id' : `-# id ${inCode(one.id, 'unreadable')}`,
  ]);
  const advice =
    here > 0 ? null : `None of them points at this bot. Let one post to \`${urls.current}\` to get its events here.`;
  return note(here > 0 ? 'info' : 'warn', count(webhooks.length, 'webhook'), [advice, ...lines], {
    components: [row(press(context.t('setup.project.url'), 'setup:receiver'))],
  });
}

/** The rest of a receiver's URL may be a secret of its own. */
function hostOf({ url }: Webhook): string | null {
  return url !== null && URL.canParse(url) ? new URL(url).host : null;
}
