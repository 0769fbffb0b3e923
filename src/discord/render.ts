import type { APIEmbed, APIEmbedField, RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import { type AddressText, checksumAddress, ZERO_ADDRESS } from '../domain/address.ts';
import { formatAmount } from '../domain/amount.ts';
import { inCode } from '../domain/text.ts';
import type { Transfer } from '../domain/transfer.ts';
import type { ClaimedAlert } from '../store/outbox.ts';

/** What rendering depends on besides the alert: the explorer's web root and the native coin's name, where known. */
export interface RenderSettings {
  explorerUrl: string | undefined;
  nativeSymbol: string | undefined;
}

/** What a line tells, seen from the channel's subscriptions. */
type Story = 'incoming' | 'outgoing' | 'internal' | 'self' | 'mint' | 'burn' | 'token';

const STORIES: Record<Story, { words: string; color: number }> = {
  incoming: { words: '📥 Incoming', color: 0x2da44e },
  outgoing: { words: '📤 Outgoing', color: 0xe5534b },
  internal: { words: '🔁 Internal move', color: 0x4184e4 },
  self: { words: '↩️ To itself', color: 0x768390 },
  mint: { words: '✨ Mint', color: 0x1b9aaa },
  burn: { words: '🔥 Burn', color: 0xd4761d },
  token: { words: '🪙 Token transfer', color: 0x986ee2 },
};

const TX_HASH = /^0x[0-9a-f]{64}$/;

/** Discord's limits for one message. */
const MAX_EMBEDS = 10;
const MAX_CHARACTERS = 6_000;
const MAX_TITLE = 256;

/**
 * Renders as many alerts (in order, at least one) as fit into one message; `reference` goes into every footer.
 * `allowed_mentions` names the subscriptions' mention roles and nothing else.
 */
export function renderAlerts(
  alerts: ClaimedAlert[],
  reference: string,
  settings: RenderSettings,
): { payload: RESTPostAPIChannelMessageJSONBody; used: number } {
  const embeds: APIEmbed[] = [];
  let characters = 0;
  for (const alert of alerts.slice(0, MAX_EMBEDS)) {
    const embed = alertEmbed(alert, `${reference}-${embeds.length + 1}`, settings);
    characters += lengthOf(embed);
    if (embeds.length > 0 && characters > MAX_CHARACTERS) break;
    embeds.push(embed);
  }
  const shown = alerts.slice(0, embeds.length);
  const roles = [...new Set(shown.flatMap((alert) => alert.matches.flatMap((match) => match.mention ?? [])))].slice(
    0,
    20,
  );
  const payload: RESTPostAPIChannelMessageJSONBody = { embeds, allowed_mentions: { parse: [], roles } };
  if (roles.length > 0) payload.content = roles.map((role) => `<@&${role}>`).join(' ');
  return { payload, used: embeds.length };
}

/** One alert as plain text, for the rare line that Discord refuses as an embed. */
export function renderPlain(alert: ClaimedAlert, reference: string): RESTPostAPIChannelMessageJSONBody {
  const { transfer } = alert;
  const address = (value: AddressText | null) => (value ? `\`${checksumAddress(value)}\`` : 'unknown');
  const lines = [
    `${STORIES[storyOf(alert)].words}: ${inCode(transfer.value ?? transfer.tokenId, 'an unknown amount')} (raw)`,
    `From ${address(transfer.from)} to ${address(transfer.to)}`,
    `Token ${transfer.token ? address(transfer.token) : 'native coin'} · transaction \`${hash(transfer)}\``,
    `-# ref ${reference}-1`,
  ];
  return { content: lines.join('\n'), allowed_mentions: { parse: [] } };
}

function lengthOf(embed: APIEmbed): number {
  const fields = embed.fields ?? [];
  const texts = [embed.title, embed.description, embed.footer?.text, ...fields.flatMap((f) => [f.name, f.value])];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

function alertEmbed(alert: ClaimedAlert, reference: string, settings: RenderSettings): APIEmbed {
  const { transfer } = alert;
  const { words, color } = STORIES[storyOf(alert)];
  const times = alert.count > 1 ? ` ×${alert.count}` : '';
  const url = link(settings, 'tx', hash(transfer), TX_HASH);
  const what = whatMoved(transfer, settings);
  const title = `${words} · ${what}${times}`;
  // A token may claim 255 decimals, and every digit of its amounts is told.
  const fits = title.length <= MAX_TITLE;
  return {
    title: fits ? title : `${words} · the amount is below${times}`,
    ...(url ? { url } : {}),
    color,
    description: [
      ...(fits ? [] : [what]),
      party('From', transfer.from, alert, settings),
      party('To', transfer.to, alert, settings),
      ...remarks(alert),
    ].join('\n'),
    fields: details(transfer, settings),
    footer: { text: `${watched(alert)} · ref ${reference}` },
    timestamp: new Date(alert.createdAt).toISOString(),
  };
}

function storyOf({ matches, transfer }: ClaimedAlert): Story {
  const seen = new Set(matches.map((match) => match.perspective));
  if (seen.has('self')) return 'self';
  if (transfer.from === ZERO_ADDRESS) return 'mint';
  if (transfer.to === ZERO_ADDRESS) return 'burn';
  if (seen.has('incoming') && seen.has('outgoing')) return 'internal';
  if (seen.has('incoming')) return 'incoming';
  return seen.has('outgoing') ? 'outgoing' : 'token';
}

/** How the native coin is written in this transfer. */
function coin(transfer: Transfer, settings: RenderSettings): string {
  const own = transfer.kind === 'native' ? transfer.tokenType : null;
  return inCode(settings.nativeSymbol ?? own, 'native coin');
}

function whatMoved(transfer: Transfer, settings: RenderSettings): string {
  const amount = transfer.value === null ? null : formatAmount(transfer.value, transfer.decimals);
  const raw = transfer.decimals === null ? ' raw units of' : '';
  const symbol = inCode(transfer.tokenSymbol ?? transfer.tokenName, 'unnamed token');
  switch (transfer.kind) {
    case 'native':
      return `${amount ?? 'unknown amount of'} ${coin(transfer, settings)}`;
    case 'erc20':
      return amount === null ? `unknown amount of ${symbol}` : `${amount}${raw} ${symbol}`;
    case 'erc721':
      return item(transfer, inCode(transfer.tokenName ?? transfer.tokenSymbol, 'unnamed collection'));
    case 'erc1155': {
      const many = transfer.value !== null && transfer.value !== '1' ? `${formatAmount(transfer.value, null)} × ` : '';
      return many + item(transfer, inCode(transfer.tokenName ?? transfer.tokenSymbol, 'unnamed collection'));
    }
    case 'unknown': {
      if (transfer.tokenId !== null) return item(transfer, symbol);
      return amount === null ? `unknown amount of ${symbol}` : `${amount}${raw} ${symbol}`;
    }
  }
}

/** An NFT: short ids in full, the uint256 monsters by their ends (in full among the details). */
function item({ tokenId, tokenIdExact }: Transfer, name: string): string {
  if (tokenId === null) return `${name} (no token id)`;
  if (!tokenIdExact) return `${name} #${inCode(tokenId, '?')} (imprecise)`;
  return `${name} #${tokenId.length > 24 ? `${tokenId.slice(0, 8)}…${tokenId.slice(-8)}` : tokenId}`;
}

function party(word: string, address: AddressText | null, alert: ClaimedAlert, settings: RenderSettings): string {
  if (address === null) return `**${word}** unknown`;
  if (address === ZERO_ADDRESS) return `**${word}** the zero address (${word === 'From' ? 'newly minted' : 'burnt'})`;
  const label = alert.matches.find((match) => match.address === address && match.label !== null)?.label;
  const name = label ? ` ${inCode(label, '')}` : '';
  return `**${word}**${name}\n${linked(address, 'address', settings)}`;
}

/** A full checksum address, as a link where there is an explorer. */
function linked(address: AddressText, page: 'address' | 'token', settings: RenderSettings): string {
  const url = link(settings, page, checksumAddress(address), /^0x[0-9a-f]{40}$/i);
  const code = `\`${checksumAddress(address)}\``;
  return url ? `[${code}](${url})` : code;
}

function link({ explorerUrl }: RenderSettings, page: string, value: string, shape: RegExp): string | null {
  return explorerUrl && shape.test(value) ? `${explorerUrl}/${page}/${value}` : null;
}

const hash = ({ txHash }: Transfer) => txHash.replace(/[^0-9a-z]/g, '');

function remarks({ transfer, count }: ClaimedAlert): string[] {
  const lines: string[] = [];
  if (transfer.kind === 'unknown') {
    lines.push(`-# Token type ${inCode(transfer.tokenType, 'not given')} is new to this bot; check the transaction.`);
  }
  if (transfer.internal) lines.push('-# Moved by a contract inside the transaction.');
  if (count > 1) lines.push(`-# ${count} equal transfers in this transaction.`);
  if (!transfer.tokenIdExact) lines.push('-# The token id was rounded by the sender.');
  if (transfer.kind === 'erc20' && transfer.decimals === null) {
    lines.push('-# The token’s decimals are unknown: this is the amount in its smallest unit.');
  }
  return lines;
}

function details(transfer: Transfer, settings: RenderSettings): APIEmbedField[] {
  const fields: APIEmbedField[] = [];
  const { token, tokenId, tokenIdExact } = transfer;
  if (token) {
    const name = inCode(transfer.tokenName, inCode(transfer.tokenSymbol, 'unnamed'));
    fields.push({ name: 'Token', value: `${name}\n${linked(token, 'token', settings)}` });
  }
  if (tokenId !== null && tokenIdExact && tokenId.length > 24)
    fields.push({ name: 'Token id', value: `\`${tokenId}\`` });
  // The title links to it; the full hash is written out only where there is no link.
  const full = hash(transfer);
  const linkedAbove = link(settings, 'tx', full, TX_HASH) !== null;
  const shown = linkedAbove ? `${full.slice(0, 10)}…${full.slice(-8)}` : full;
  const facts: string[] = [];
  if (transfer.blockNumber !== null) facts.push(`Block ${formatAmount(String(transfer.blockNumber), null)}`);
  if (transfer.gasFee !== null) facts.push(`Fee ${formatAmount(transfer.gasFee, 18)} ${coin(transfer, settings)}`);
  fields.push({ name: 'Transaction', value: [`\`${shown}\``, facts.join(' · ')].filter(Boolean).join('\n') });
  return fields;
}

/** Every subscription that the line is told for, in a footer's plain text. */
function watched({ matches }: ClaimedAlert): string {
  const words = { incoming: 'incoming', outgoing: 'outgoing', self: 'to itself', token: 'token' };
  const names = matches.map(({ address, label, perspective }) => {
    const short = checksumAddress(address);
    const name = inCode(label, `${short.slice(0, 6)}…${short.slice(-4)}`).replaceAll('`', '');
    return `${name} (${words[perspective]})`;
  });
  const shown = names.slice(0, 10).join(', ');
  return `Watching ${shown}${names.length > 10 ? ` and ${names.length - 10} more` : ''}`;
}
