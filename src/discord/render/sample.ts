import { ComponentType, MessageFlags, type RESTPostAPIChannelMessageJSONBody } from 'discord.js';
import { type AddressText, ZERO_ADDRESS } from '../../domain/address.ts';
import type { Alert } from '../../domain/alert.ts';
import { FIRST_NETWORK } from '../../domain/network.ts';
import { type AlertStyle, type Perspective, type Subscription, styleOf } from '../../domain/subscription.ts';
import type { Transfer, TransferKind } from '../../domain/transfer.ts';
import { transactionEmbed } from './card.ts';
import { compactLines } from './compact.ts';
import { type RenderSettings, renderContext } from './wording.ts';

const OTHER: AddressText = '0x1111111111111111111111111111111111111111';
const TOKEN: AddressText = '0x2222222222222222222222222222222222222222';

/** Made up, marked as a sample, and in the guild's language; it mentions nobody. */
export function sampleMessage(
  subscription: Subscription,
  settings: RenderSettings,
  now: number,
  { language, style }: { language: string | null; style: AlertStyle | null },
): RESTPostAPIChannelMessageJSONBody {
  const perspective: Perspective = subscription.direction === 'outgoing' ? 'outgoing' : 'incoming';
  const alert: Alert = {
    id: 0,
    guildId: subscription.guildId,
    channelId: subscription.channelId,
    createdAt: now,
    receivedAt: now,
    inboxId: null,
    network: subscription.network ?? settings.networks?.keys().next().value ?? FIRST_NETWORK,
    count: 1,
    reorganized: false,
    transfer: sampleTransfer(subscription, perspective),
    matches: [
      {
        ...subscription,
        subscription: subscription.id,
        perspective,
        isKnown: true,
        mayMention: false,
        mentionedAt: null,
      },
    ],
    warnings: [],
    labels: {},
    language,
    hold: null,
    style: styleOf([subscription.style], style),
    isCataloged: false,
    isSignificant: false,
  };
  const context = renderContext([alert], settings);
  const marked = (title: string) => context.t('alert.sample', { title });
  // No button: it explains recorded transfers, and a sample is not recorded.
  const allowed_mentions = { parse: [] };
  if (alert.style === 'full') {
    const embed = transactionEmbed([alert], context);
    return { embeds: [{ ...embed, title: marked(embed.title!) }], allowed_mentions };
  }
  const content = marked(compactLines([alert], context).join('\n'));
  return {
    flags: MessageFlags.IsComponentsV2,
    components: [{ type: ComponentType.TextDisplay, content }],
    allowed_mentions,
  };
}

function sampleTransfer({ address, kind, token }: Subscription, perspective: Perspective): Transfer {
  const incoming = perspective === 'incoming';
  const shown: TransferKind =
    kind === 'nft' ? 'erc721' : kind === 'native' || (kind === 'any' && !token) ? 'native' : 'erc20';
  const native = shown === 'native';
  const other = address === OTHER ? ZERO_ADDRESS : OTHER;
  return {
    kind: shown,
    txHash: 'sample',
    from: incoming ? other : address,
    to: incoming ? address : other,
    token: native ? null : (token ?? TOKEN),
    value: shown === 'erc721' ? null : '1234500000000000000000',
    tokenId: shown === 'erc721' ? '42' : null,
    tokenIdExact: true,
    tokenType: null,
    tokenName: native ? null : 'Sample token',
    tokenSymbol: native ? null : 'SAMPLE',
    decimals: shown === 'erc721' ? null : 18,
    internal: false,
    blockNumber: null,
    blockHash: null,
    gasFee: null,
  };
}
