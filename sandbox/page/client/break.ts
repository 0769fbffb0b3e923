import { html, nothing, type TemplateResult } from 'lit-html';
import { MINUTE, SECOND } from '../../../src/domain/units.ts';
import type { ChannelState, Fault, FaultRule, FaultState, GuildState } from '../../discord/control.ts';
import type { PageAction, PriceFault } from '../protocol.ts';
import { act, button, check } from './controls.ts';
import { channelOf, guildOf, isOnline, type Model } from './model.ts';
import { addFault, change, clearFault, perform } from './requests.ts';
import { currentChannelId, ui } from './screen.ts';

const MESSAGES = { method: 'POST', path: '/channels/:channel/messages' };

interface Breakage {
  label: string;
  /** The effect, and the bot's expected reaction. */
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
    rule: { fault: { kind: 'rate-limit', retryAfterMs: 10 * SECOND }, ...MESSAGES, times: 1 },
  },
  {
    label: '403 without a code',
    meaning: 'Discord rejects the next message without a reason. The bot must not take it for a lost permission.',
    rule: { fault: { kind: 'error', status: 403 }, ...MESSAGES, times: 1 },
  },
  {
    label: 'Cloudflare page',
    meaning: 'The next message gets an HTML error page from Cloudflare. The bot pauses all requests, then retries.',
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

export function breakView(all: Model): TemplateResult {
  const { faults } = all.discord;
  return html`<h3>Bot</h3>
    <ul class="breakages">${botRows(all.world.bot.state === 'stopped')}</ul>
    ${networkView(all)}
    <h3>Discord</h3>
    <ul class="faults" aria-label="Active faults" aria-live="polite">${faults.map(faultView)}</ul>
    ${faults.length > 1 ? button('Remove all faults', () => void clearFault(), { kind: 'success' }) : nothing}
    <ul class="breakages">
      ${BREAKAGES.map(({ label, meaning, rule }) =>
        row(
          label,
          meaning,
          breakButton(label, () => void addFault(rule, `${label}: active now.`)),
        ),
      )}
      ${row(
        'Dropped connection',
        'The bot’s gateway connection closes once. The bot reconnects and resumes.',
        breakButton(
          'Dropped connection',
          () => void change({ do: 'gateway.drop' }, 'The bot’s gateway connection was dropped.'),
        ),
      )}
    </ul>
    <h3>Notification service</h3>
    ${serviceView(all)}
    <h3>Price source</h3>
    ${pricesView(all)}
    ${placeView()}`;
}

function row(label: string, meaning: string, action: TemplateResult): TemplateResult {
  return html`<li><span><b>${label}</b><small>${meaning}</small></span>${action}</li>`;
}

const breakButton = (label: string, onClick: () => void): TemplateResult => button('Break', onClick, { about: label });

function botRows(isDown: boolean): TemplateResult[] {
  return [
    isDown
      ? row(
          'Start the bot',
          'It finds what is on its disk and continues. Events that waited arrive next.',
          button('Start', act({ do: 'bot', what: 'start' }), { kind: 'success' }),
        )
      : row(
          'Kill the bot',
          'SIGKILL, as in a crash or power cut. Events wait at the notification service.',
          button('Kill', act({ do: 'bot', what: 'kill' }), { kind: 'danger' }),
        ),
    row(
      'Restart the bot',
      'SIGTERM, then a start, as in an update. It finishes what it is sending first.',
      button('Restart', act({ do: 'bot', what: 'restart' }), { disabled: isDown }),
    ),
  ];
}

function networkView({ world }: Model): TemplateResult | typeof nothing {
  if (world.second !== null) return nothing;
  return html`<h3>Networks</h3>
    <ul class="breakages">${row(
      'Second network',
      'Another chain with the same addresses, and services of its own. The bot starts again with both.',
      button('Start', act({ do: 'second-network' }), { about: 'Second network' }),
    )}</ul>`;
}

function serviceView(all: Model): TemplateResult {
  const { found, marked, notification } = all.world;
  const { repeat, delayMs, reorder, paused, lose, invent } = notification;
  const set = (faults: Extract<PageAction, { do: 'notification' }>['faults']): void =>
    void perform({ do: 'notification', faults });
  return html`
    ${check('Send each event twice', repeat > 0, (on) => set({ repeat: on ? 1 : 0, repeatAfterMs: 12 * SECOND }), 'Again 12 s after its 200. The bot posts it once.')}
    ${check('Send 10 s late', delayMs > 0, (on) => set({ delayMs: on ? 10 * SECOND : 0 }), 'Alerts are late, but complete.')}
    ${check('Send in random order', reorder, (on) => set({ reorder: on }), 'Applies when several events wait.')}
    ${check('Pause', paused, (on) => set({ paused: on }), 'Nothing is sent until you clear this box. The bot finds it on the chain meanwhile.')}
    ${check('Lose events', lose, (on) => set({ lose: on }), `They are never sent. The bot finds them on the chain, where it looks every 15 s. Found so far: ${found}.`)}
    ${check('Invent events', invent, (on) => set({ invent: on }), `One event in three is followed by one of a transaction that does not exist. The bot posts it, looks on the chain and marks it. Marked so far: ${marked}.`)}
    <p class="buttons">${button('Deliver now', act({ do: 'deliver' }), { disabled: !isOnline(all) })}
      <small>Sends everything that waits for a retry. The service’s own retries come after 15 s, 1 min, 10 min…</small></p>`;
}

const PRICE_FAULTS: [Exclude<PriceFault, 'none'>, label: string, meaning: string][] = [
  ['away', 'Away', 'It returns 503. Alerts show no value, and filters by value let everything through.'],
  [
    'wrong',
    'Wrong by a thousand',
    'Each price is a thousand times too high. The bot believes that only once two answers have it.',
  ],
  ['old', 'Old', 'Its prices are two hours old: they count as unknown.'],
];

function pricesView({ world }: Model): TemplateResult {
  return html`${PRICE_FAULTS.map(([fault, label, meaning]) =>
    check(label, world.prices === fault, (on) => void perform({ do: 'prices', fault: on ? fault : 'none' }), meaning),
  )}<p><small>The bot asks again within 4 minutes, because it keeps each price for that long.</small></p>`;
}

function placeView(): TemplateResult | typeof nothing {
  const channel = channelOf(currentChannelId());
  const guild = guildOf(ui.guildId);
  if (!channel || !guild) return nothing;
  return html`<h3 class="name">#${channel.name}</h3>
    <ul class="breakages">${channelRows(channel, guild)}</ul>
    <h3 class="name">${guild.name}</h3>
    <ul class="breakages">${guildRows(guild)}</ul>`;
}

function channelRows({ id: channelId, name, botMaySend }: ChannelState, guild: GuildState): TemplateResult[] {
  const created = { do: 'channel.create', guildId: guild.id, name: `new-${guild.channels.length + 1}` } as const;
  return [
    botMaySend
      ? row(
          'Revoke access',
          'The bot no longer sees the channel. Alerts wait and follow once it is back.',
          button('Forbid', () => void change({ do: 'channel.forbid', channelId }, `The bot no longer sees #${name}.`)),
        )
      : row(
          'Restore access',
          'The bot sees the channel again and sends what waited.',
          button('Allow', () => void change({ do: 'channel.allow', channelId }, `The bot sees #${name} again.`), {
            kind: 'success',
          }),
        ),
    row(
      'Delete the channel',
      'Its alerts have nowhere to go. /status shows it.',
      button('Delete', () => void change({ do: 'channel.delete', channelId }, `#${name} was deleted.`), {
        kind: 'danger',
      }),
    ),
    row(
      'Create a channel',
      'A new one without subscriptions.',
      button('Create', () => void change(created, 'A channel was created.')),
    ),
  ];
}

function guildRows({ id: guildId, name, available, present }: GuildState): TemplateResult[] {
  return [
    available
      ? row(
          'Server outage',
          'Discord reports the server as unavailable, as it does during incidents.',
          breakButton(
            'Server outage',
            () => void change({ do: 'guild.unavailable', guildId }, `${name} is unavailable.`),
          ),
        )
      : row(
          'End the outage',
          'Discord reports the server as available again.',
          button('End', () => void change({ do: 'guild.available', guildId }, `${name} is back.`), { kind: 'success' }),
        ),
    present
      ? row(
          'Remove the bot',
          'An admin removes it from the server. Its subscriptions are kept for a while.',
          button('Remove', () => void change({ do: 'guild.remove', guildId }, `The bot was removed from ${name}.`), {
            kind: 'danger',
          }),
        )
      : row(
          'Invite the bot',
          'An admin adds it to the server again.',
          button('Invite', () => void change({ do: 'guild.add', guildId }, `The bot is in ${name} again.`), {
            kind: 'success',
          }),
        ),
  ];
}

const FAULT_NAMES: Record<Fault['kind'], string> = {
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

function faultView({ id, fault, hits, ...span }: FaultState): TemplateResult {
  const status = 'status' in fault ? ` ${fault.status}` : '';
  const affected = hits === 0 ? 'no request affected yet' : `${hits} request${hits === 1 ? '' : 's'} affected`;
  return html`<li><span><b>${FAULT_NAMES[fault.kind]}${status}</b> · ${spanText(span)} <small>${affected}</small></span>
    ${button('Remove', () => void clearFault(id), { kind: 'success' })}</li>`;
}

function spanText({ times, forMs }: Pick<FaultRule, 'times' | 'forMs'>): string {
  if (times !== undefined) return times === 1 ? 'next request' : `next ${times} requests`;
  return forMs === undefined ? 'until removed' : `for ${forMs / SECOND} s`;
}
