import { ButtonStyle } from 'discord.js';
import type { Command, CommandSettings, Reply } from '../src/discord/command.ts';
import { checksumAddress, parseAddress, parseWatchable } from '../src/domain/address.ts';
import { formatAmount } from '../src/domain/amount.ts';
import { inCode } from '../src/domain/text.ts';
import { UserError } from '../src/errors.ts';
import type { Token } from '../src/upstream/explorer.ts';
import { checkTarget } from './parts/channel.ts';
import { define } from './parts/define.ts';
import { explain, off } from './parts/failure.ts';
import { fullAddress, linkButton, note, press, row, shortAddress } from './parts/reply.ts';
import { watch } from './subscription/add.ts';
import { NO_FILTERS } from './subscription/filters.ts';
import { visibleTo } from './subscription/find.ts';

/** What the explorer knows of a token. */
export const token = {
  data: define('token', 'Look up a token by its contract address').addStringOption((option) =>
    option
      .setName('address')
      .setDescription('The token’s contract: 0x and 40 hexadecimal digits')
      .setRequired(true)
      .setAutocomplete(true)
      .setMaxLength(100),
  ),
  access: 'all',
  public: true,
  async execute(interaction, { t, explorer, settings }) {
    if (!explorer) throw off(t, 'explorer', 'EXPLORER_API_URL');
    const parsed = parseAddress(interaction.options.getString('address', true));
    if (!parsed.ok) throw new UserError(t(`address.${parsed.fault}`));
    const answer = await explorer.token(parsed.address);
    switch (answer.status) {
      case 'found':
        return show(answer.token, settings);
      case 'not-found':
        throw new UserError(
          `The explorer knows no token at ${fullAddress(parsed.address, settings)}. Is it a wallet, or a contract on ` +
            'another chain? A new token can take a few minutes.',
        );
      case 'invalid':
        throw new UserError(
          `The explorer does not take ${fullAddress(parsed.address, settings)} for a contract address. Copy it again ` +
            'from the token’s page.',
        );
      default:
        throw new UserError(explain(t, answer, 'explorer'));
    }
  },
  async autocomplete(interaction, context) {
    const typed = interaction.options.getFocused().trim().toLowerCase();
    const found = new Map<string, string>();
    for (const { token: only, address, label } of await visibleTo(interaction, context)) {
      if (label !== null) found.set(checksumAddress(address), `${label} · ${shortAddress(address)}`);
      if (only !== null && !found.has(checksumAddress(only))) {
        found.set(checksumAddress(only), `Token ${checksumAddress(only)}`);
      }
    }
    return [...found]
      .filter(([value, name]) => `${value} ${name}`.toLowerCase().includes(typed))
      .map(([value, name]) => ({ name, value }));
  },
  buttons: {
    /** `token:watch:<address>` */
    watch: {
      access: 'manage',
      answer: 'reply',
      async press(interaction, [address = ''], context) {
        const parsed = parseWatchable(address);
        if (!parsed.ok) throw new UserError(context.t(`address.${parsed.fault}`));
        checkTarget(interaction, interaction.channelId, null, context.t);
        const wish = { ...NO_FILTERS, address: parsed.address, channelId: interaction.channelId };
        return watch(interaction, context, wish);
      },
    },
  },
} satisfies Command;

function show(found: Token, settings: CommandSettings): Reply {
  const { address, name, symbol, decimals, totalSupply, cataloged } = found;
  const text = checksumAddress(address);
  const buttons = [press('🔔 Watch this token', `token:watch:${text}`, ButtonStyle.Primary)];
  if (settings.explorerUrl) buttons.push(linkButton('Explorer', `${settings.explorerUrl}/token/${text}`));
  return note(
    'info',
    symbol === null ? inCode(name, 'Unnamed token') : `${inCode(name, 'Unnamed token')} ${inCode(symbol, '')}`,
    [fullAddress(address, settings, 'token')],
    {
      fields: [
        { name: 'Type', value: inCode(found.type, 'not given'), inline: true },
        { name: 'Decimals', value: decimals === null ? 'not given' : String(decimals), inline: true },
        { name: 'In the catalogue', value: cataloged === null ? 'not given' : cataloged ? 'yes' : 'no', inline: true },
        { name: 'Total supply', value: supply(totalSupply, decimals, symbol) },
      ],
      components: [row(...buttons)],
    },
  );
}

function supply(total: string | null, decimals: number | null, symbol: string | null): string {
  if (total === null) return 'not given';
  if (decimals === null || decimals === 0) return `${formatAmount(total, null)} (raw \`${total}\`)`;
  return `${formatAmount(total, decimals)} ${inCode(symbol, '')}\nraw \`${total}\``;
}
