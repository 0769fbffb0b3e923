/** The tab "Break": the faults of Discord, a channel, the bot and the notification service, and the effect of each. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { FaultRule, FaultState } from '../../discord/control.ts';
import type { PageAction } from '../protocol.ts';
import { act, button, check } from './controls.ts';
import { channelOf, guildOf, isOnline, type Known } from './model.ts';
import { addFault, change, clearFault, currentChannelId, perform, ui } from './screen.ts';

const MINUTE = 60_000;
const MESSAGES = { method: 'POST', path: '/channels/:channel/messages' };

interface Breakage {
  label: string;
  /** What happens, and what the bot is expected to do. */
  meaning: string;
  rule: FaultRule;
}

const BREAKAGES: Breakage[] = [
  {
    label: 'Error 500 for a minute',
    meaning: 'Discord rejects every message with a server error. The bot waits and retries; each alert appears once.',
    rule: { fault: { kind: 'error', status: 500 }, ...MESSAGES, forMs: MINUTE },
  },
  {
    label: 'Rate limit of 10 s',
    meaning: 'Discord rejects the next message with 429. The bot waits 10 s, then sends it.',
    rule: { fault: { kind: 'rate-limit', retryAfterMs: 10_000 }, ...MESSAGES, times: 1 },
  },
  {
    label: '403 without a code',
    meaning: 'Discord rejects the next message without saying why. The bot must not take it for a lost permission.',
    rule: { fault: { kind: 'error', status: 403 }, ...MESSAGES, times: 1 },
  },
  {
    label: 'Cloudflare page',
    meaning:
      'The next message meets an HTML error page in front of Discord. The bot pauses all requests, then retries.',
    rule: { fault: { kind: 'cloudflare', status: 429 }, ...MESSAGES, times: 1 },
  },
  {
    label: 'Lost response',
    meaning:
      'Discord posts the next message, but the response never arrives. The bot asks again without posting twice.',
    rule: { fault: { kind: 'lost' }, ...MESSAGES, times: 1 },
  },
  {
    label: 'Discord down for a minute',
    meaning: 'All requests fail and the connection closes. Alerts wait on the bot’s disk and follow afterwards.',
    rule: { fault: { kind: 'away' }, forMs: MINUTE },
  },
  {
    label: 'Gateway down for a minute',
    meaning: 'The bot receives no commands, but its alerts still go out.',
    rule: { fault: { kind: 'gateway-down' }, forMs: MINUTE },
  },
];

/** Draws the whole tab. */
export function breakView(all: Known): TemplateResult {
  const { world, discord } = all;
  const isDown = world.bot.state === 'stopped';
  const { repeat, delayMs, reorder, paused } = world.notification;
  const service = (faults: Extract<PageAction, { do: 'notification' }>['faults']) =>
    void perform({ do: 'notification', faults });
  return html`<h3>Bot</h3>
    <ul class="breakages">
      ${isDown ? row('Start the bot', 'It finds what is on its disk and continues. Events that waited arrive next.', button('Start', act({ do: 'bot', what: 'start' }), 'success')) : row('Kill the bot', 'SIGKILL, as in a crash or power cut. Events wait at the notification service.', button('Kill', act({ do: 'bot', what: 'kill' }), 'danger'))}
      ${row('Restart the bot', 'SIGTERM, then a start, as in an update. It finishes what it is sending first.', button('Restart', act({ do: 'bot', what: 'restart' }), 'secondary', isDown))}
    </ul>
    <h3>Discord</h3>
    <ul class="faults" aria-label="Active faults" aria-live="polite">${discord.faults.map(faultView)}</ul>
    ${discord.faults.length > 1 ? button('Remove all faults', () => void clearFault(), 'success') : nothing}
    <ul class="breakages">
      ${BREAKAGES.map(({ label, meaning, rule }) =>
        row(
          label,
          meaning,
          button('Break', () => void addFault(rule, `${label}: active now.`), 'secondary', false, label),
        ),
      )}
      ${row(
        'Dropped connection',
        'The bot’s gateway connection closes once. The bot reconnects and resumes.',
        button(
          'Break',
          () => void change({ do: 'gateway.drop' }, 'The bot’s gateway connection was dropped.'),
          'secondary',
          false,
          'Dropped connection',
        ),
      )}
    </ul>
    <h3>Notification service</h3>
    ${check('Send each event twice', repeat > 0, (on) => service({ repeat: on ? 1 : 0, repeatAfterMs: 12_000 }), 'Again 12 s after its 200. The bot posts it once.')}
    ${check('Send 10 s late', delayMs > 0, (on) => service({ delayMs: on ? 10_000 : 0 }), 'Alerts are late, but complete.')}
    ${check('Send in random order', reorder, (on) => service({ reorder: on }), 'Applies when several events wait.')}
    ${check('Pause', paused, (on) => service({ paused: on }), 'Nothing is sent until you clear this box. Nothing is lost.')}
    <p class="buttons">${button('Deliver now', act({ do: 'deliver' }), 'secondary', !isOnline(all))}
      <small>Sends everything that waits for a retry. The service’s own retries come after 15 s, 1 min, 10 min…</small></p>
    ${channelFaults()}`;
}

function row(label: string, meaning: string, action: TemplateResult): TemplateResult {
  return html`<li><span><b>${label}</b><small>${meaning}</small></span>${action}</li>`;
}

function channelFaults(): TemplateResult {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return html``;
  const { id: channelId, name } = channel;
  const permission = channel.botMaySend
    ? row(
        'Take away access',
        'The bot no longer sees the channel. Alerts wait and follow once it is back.',
        button('Forbid', () => void change({ do: 'channel.forbid', channelId }, `The bot no longer sees #${name}.`)),
      )
    : row(
        'Give access back',
        'The bot sees the channel again and sends what waited.',
        button(
          'Allow',
          () => void change({ do: 'channel.allow', channelId }, `The bot sees #${name} again.`),
          'success',
        ),
      );
  const outage = guild.available
    ? row(
        'Server outage',
        'Discord reports the server as unavailable, as it does during incidents.',
        button(
          'Break',
          () => void change({ do: 'guild.unavailable', guildId: guild.id }, `${guild.name} is unavailable.`),
          'secondary',
          false,
          'Server outage',
        ),
      )
    : row(
        'End the outage',
        'Discord reports the server as available again.',
        button(
          'End',
          () => void change({ do: 'guild.available', guildId: guild.id }, `${guild.name} is back.`),
          'success',
        ),
      );
  const membership = guild.present
    ? row(
        'Remove the bot',
        'An admin removes it from the server. Its subscriptions are kept for a while.',
        button(
          'Remove',
          () => void change({ do: 'guild.remove', guildId: guild.id }, `The bot was removed from ${guild.name}.`),
          'danger',
        ),
      )
    : row(
        'Invite the bot',
        'An admin adds it to the server again.',
        button(
          'Invite',
          () => void change({ do: 'guild.add', guildId: guild.id }, `The bot is in ${guild.name} again.`),
          'success',
        ),
      );
  return html`<h3 class="name">#${name}</h3>
    <ul class="breakages">
      ${permission}
      ${row(
        'Delete the channel',
        'Its alerts have nowhere to go. /status shows it.',
        button('Delete', () => void change({ do: 'channel.delete', channelId }, `#${name} was deleted.`), 'danger'),
      )}
      ${row(
        'Create a channel',
        'A new one without subscriptions.',
        button(
          'Create',
          () =>
            void change(
              { do: 'channel.create', guildId: guild.id, name: `new-${guild.channels.length + 1}` },
              'A channel was created.',
            ),
        ),
      )}
    </ul>
    <h3 class="name">${guild.name}</h3>
    <ul class="breakages">${outage}${membership}</ul>`;
}

function faultView({ id, fault, hits, times, forMs }: FaultState): TemplateResult {
  const words = {
    error: 'Error',
    'rate-limit': 'Rate limit',
    cloudflare: 'Cloudflare page',
    cut: 'Cut response',
    lost: 'Lost response',
    reset: 'Broken connection',
    hang: 'No response',
    delay: 'Slow',
    'gateway-down': 'Gateway down',
    away: 'Discord down',
  };
  const status = 'status' in fault ? ` ${fault.status}` : '';
  const span =
    times === undefined
      ? forMs === undefined
        ? 'until removed'
        : 'for a minute'
      : times === 1
        ? 'next request'
        : `next ${times} requests`;
  return html`<li><span><b>${words[fault.kind]}${status}</b> · ${span}
      <small>${hits === 0 ? 'no request affected yet' : `${hits} request${hits === 1 ? '' : 's'} affected`}</small></span>
    ${button('Remove', () => void clearFault(id), 'success')}</li>`;
}
