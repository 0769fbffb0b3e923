/** The tab "Break": what can go wrong with Discord, a channel, the bot and the notification service. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { FaultRule, FaultState } from '../../discord/control.ts';
import type { Act } from '../protocol.ts';
import { act, button, check } from './controls.ts';
import { channelOf, guildOf, type Known } from './model.ts';
import { addFault, change, clearFault, currentChannelId, perform, ui } from './screen.ts';

const MINUTE = 60_000;
const messages = { method: 'POST', path: '/channels/:channel/messages' };

/** What can go wrong with Discord: the button, the rule, and what is told. */
const misfortunes: [label: string, rule: FaultRule, told: string][] = [
  [
    '500 for a minute',
    { fault: { kind: 'error', status: 500 }, ...messages, forMs: MINUTE },
    'Discord answers messages with 500 for a minute.',
  ],
  [
    '429 for 10 s',
    { fault: { kind: 'rate-limit', retryAfterMs: 10_000 }, ...messages, times: 1 },
    'The next message is refused with 429: again after 10 s.',
  ],
  [
    '403 without a code',
    { fault: { kind: 'error', status: 403 }, ...messages, times: 1 },
    'The next message is refused with a bare 403.',
  ],
  [
    'Cloudflare page',
    { fault: { kind: 'cloudflare', status: 429 }, ...messages, times: 1 },
    'The next message meets Cloudflare’s HTML page.',
  ],
  [
    'Answer lost',
    { fault: { kind: 'lost' }, ...messages, times: 1 },
    'The next message arrives, but its answer is lost.',
  ],
  ['Away for a minute', { fault: { kind: 'away' }, forMs: MINUTE }, 'All of Discord is away for a minute.'],
  [
    'Gateway down for a minute',
    { fault: { kind: 'gateway-down' }, forMs: MINUTE },
    'The gateway is down for a minute; messages go on.',
  ],
];

/** The whole tab. */
export function breakView({ world, discord }: Known): TemplateResult {
  const down = world.bot.state === 'stopped';
  const { repeat, delayMs, reorder, paused } = world.notification;
  const service = (faults: Extract<Act, { do: 'notification' }>['faults']) =>
    void perform({ do: 'notification', faults });
  return html`<h3>Discord</h3>
    <div class="buttons">${misfortunes.map(([label, rule, told]) => button(label, () => void addFault(rule, told)))}
      ${button('Drop the connection', () => void change({ do: 'gateway.drop' }, 'The bot’s gateway connection was dropped.'))}</div>
    <ul class="faults" aria-label="Faults in force" aria-live="polite">${discord.faults.map(faultView)}</ul>
    ${discord.faults.length > 1 ? button('Mend everything', () => void clearFault(), 'success') : nothing}
    ${channelMisfortunes()}
    <h3>Bot</h3>
    <div class="buttons">
      ${button('Kill it (SIGKILL)', act({ do: 'bot', what: 'kill' }), 'danger', down)}
      ${button('Start it', act({ do: 'bot', what: 'start' }), 'success', !down)}
      ${button('Restart politely', act({ do: 'bot', what: 'restart' }), 'secondary', down)}
    </div>
    <h3>Notification service</h3>
    ${check('Sends each event again 12 s after its 200', repeat > 0, (on) => service({ repeat: on ? 1 : 0, repeatAfterMs: 12_000 }))}
    ${check('Waits 10 s before sending', delayMs > 0, (on) => service({ delayMs: on ? 10_000 : 0 }))}
    ${check('Sends in random order', reorder, (on) => service({ reorder: on }))}
    ${check('Pauses', paused, (on) => service({ paused: on }))}`;
}

function channelMisfortunes(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html``;
  const { id: channelId, name } = channel;
  return html`<h3 class="name">#${name}</h3>
    <div class="buttons">
      ${button('Forbid it to the bot', () => void change({ do: 'channel.forbid', channelId }, `The bot no longer sees #${name}.`), 'secondary', !channel.botMaySend)}
      ${button('Allow it again', () => void change({ do: 'channel.allow', channelId }, `The bot sees #${name} again.`), 'success', channel.botMaySend)}
      ${button('Delete the channel', () => void change({ do: 'channel.delete', channelId }, `#${name} was deleted.`), 'danger')}
      ${button('Make a new channel', () => void change({ do: 'channel.create', guildId: guild.id, name: `new-${guild.channels.length + 1}` }, 'A channel was made.'))}
    </div>
    <h3 class="name">${guild.name}</h3>
    <div class="buttons">
      ${guild.available ? button('Server outage', () => void change({ do: 'guild.unavailable', guildId: guild.id }, `${guild.name} is unavailable.`)) : button('End the outage', () => void change({ do: 'guild.available', guildId: guild.id }, `${guild.name} is back.`), 'success')}
      ${guild.present ? button('Remove the bot', () => void change({ do: 'guild.remove', guildId: guild.id }, `The bot was removed from ${guild.name}.`), 'danger') : button('Invite the bot', () => void change({ do: 'guild.add', guildId: guild.id }, `The bot is in ${guild.name} again.`), 'success')}
    </div>`;
}

function faultView({ id, fault, hits, times, forMs }: FaultState): TemplateResult {
  const words = {
    error: 'Error',
    'rate-limit': '429',
    cloudflare: 'Cloudflare page',
    cut: 'Answer cut',
    lost: 'Answer lost',
    reset: 'Connection broken',
    hang: 'No answer',
    delay: 'Slow',
    'gateway-down': 'Gateway down',
    away: 'Away',
  };
  const status = 'status' in fault ? ` ${fault.status}` : '';
  const span = times !== undefined ? `${times}×` : forMs !== undefined ? 'for a minute' : 'until mended';
  return html`<li><span>${words[fault.kind]}${status}, ${span} <small>met ${hits} request${hits === 1 ? '' : 's'}</small></span>
    ${button('Mend', () => void clearFault(id), 'success')}</li>`;
}
