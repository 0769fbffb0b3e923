import { ButtonStyle } from 'discord.js';
import type { Choice, Command, Reply } from '../src/discord/command.ts';
import { type AddressText, NATIVE_SENTINEL } from '../src/domain/address.ts';
import { inUnits, wholeDigits } from '../src/domain/amount.ts';
import { addressPage } from '../src/domain/explorer.ts';
import { imitatedBy } from '../src/domain/guard.ts';
import { DEFAULT_CHOICES } from '../src/domain/subscription.ts';
import { asName, asSymbol } from '../src/domain/text.ts';
import type { Token } from '../src/domain/token.ts';
import { checksumAddress, parseWatchable } from '../src/domain/typed-address.ts';
import { UserError } from '../src/errors.ts';
import type { Language, Translate } from '../src/languages/index.ts';
import { writeNumber } from '../src/languages/number.ts';
import { addressChoice, choicesWith } from './shared/choices.ts';
import { button, linkButton, rows } from './shared/components.ts';
import { countLookUp } from './shared/cooldown.ts';
import { defineAnywhere } from './shared/define.ts';
import { explain, notConfigured } from './shared/failure.ts';
import { readAddress } from './shared/read-address.ts';
import { addressInCode, embedReply, fullAddress, thirdPartyName, withInput } from './shared/reply.ts';
import type { ContextWith } from './shared/services.ts';
import { seenBy } from './shared/subscriptions.ts';
import { checkTarget } from './shared/target.ts';
import { imitationsAmong, knownIn, tokenChoice } from './shared/tokens.ts';
import { type AddNeeds, watch } from './subscription/add.ts';

type Needs = AddNeeds & ContextWith<'cooldown' | 'explorer'>;

/** `/token`: what the explorer knows about a token. */
export const token = {
  data: defineAnywhere('token', 'Look up a token by its contract address').addStringOption((option) =>
    option
      .setName('address')
      .setDescription('The token’s contract: 0x followed by 40 hexadecimal digits')
      .setRequired(true)
      .setAutocomplete(true)
      .setMaxLength(300),
  ),
  access: 'all',
  public: true,
  anywhere: true,
  async execute(interaction, context) {
    const { own, explorer, settings } = context;
    if (!explorer) throw notConfigured(own, 'explorer', 'EXPLORER_API_URL');
    const typed = interaction.options.getString('address', true);
    const address = readAddress(typed, own);
    if (address === NATIVE_SENTINEL) throw withInput(new UserError(own('token.native')), typed, own);
    countLookUp('explorer', interaction, context);
    const response = await explorer.token(address);
    switch (response.status) {
      case 'found':
        return show(response.token, await warningOf(response.token, interaction.guildId, context), context);
      case 'not-found':
        throw new UserError(own('token.notFound', { address: fullAddress(address, settings) }));
      case 'invalid':
        throw new UserError(own('token.invalid', { address: fullAddress(address, settings) }));
      case 'rejected':
        throw withInput(new UserError(explain(own, response, 'explorer')), typed, own);
      default:
        if (response.status === 'limited') context.cooldown.limited('explorer');
        throw new UserError(explain(own, response, 'explorer'));
    }
  },
  async autocomplete(interaction, context) {
    const { t, labels, tokens } = context;
    if (context.isOutside) return [];
    const { visible, unseen } = await seenBy(interaction, context);
    const shown = new Set(visible.map(({ address }) => address));
    const secret = new Set(unseen.map(({ address }) => address).filter((address) => !shown.has(address)));
    // Only people who manage the bot see all labels: others get the names that alerts show them.
    const mayKnow = (address: AddressText) => (context.manages ? !secret.has(address) : shown.has(address));
    const book = (await labels.list(interaction.guildId)).filter(({ address }) => mayKnow(address));
    const found = new Map<string, Choice>();
    const offer = (choice: Choice) => {
      if (!found.has(choice.value)) found.set(choice.value, choice);
    };
    for (const { address, label } of visible) if (label !== null) offer(addressChoice(address, label));
    for (const { address, name } of book) offer(addressChoice(address, name));
    for (const asset of visible.flatMap((one) => [one.token, ...one.filters.tokens])) {
      if (asset === null || asset === 'native') continue;
      const value = checksumAddress(asset);
      offer({ name: t('token.choice', { address: value }), value });
    }
    // Recent tokens are those of the whole guild, so only people who see all of its channels get them.
    const moved = secret.size === 0 ? await tokens.known(interaction.guildId) : [];
    const imitations = imitationsAmong(moved);
    for (const one of moved) if (one.seen && one.token !== 'native') offer(tokenChoice(one, imitations, t));
    return choicesWith(interaction.options.getFocused(), [...found.values()]);
  },
  buttons: {
    /** `token:watch:<address>` */
    watch: {
      access: 'manage',
      response: 'reply',
      async press(interaction, [text = ''], context) {
        const address = readAddress(text, context.t, parseWatchable);
        const { channelId } = interaction;
        await checkTarget(interaction, channelId, null, context);
        return watch(interaction, context, { ...DEFAULT_CHOICES, address, channelId });
      },
    },
  },
} satisfies Command<Needs>;

/** A warning, as in alerts, if the token copies the symbol of a cataloged one or of the native coin; null: none. */
async function warningOf(found: Token, guildId: string, context: Needs): Promise<string | null> {
  const { t, isOutside } = context;
  if (found.cataloged === true) return null;
  const genuine = imitatedBy(found.address, found.symbol, await knownIn(isOutside ? null : guildId, context));
  if (genuine === null) return null;
  const symbol = thirdPartyName(t, found.symbol, '?');
  return genuine === 'native'
    ? t('alert.imitationOfCoin', { symbol })
    : t('alert.imitationOf', { symbol, address: addressInCode(genuine) });
}

function show(found: Token, warning: string | null, { t, language, settings, isOutside }: Needs): Reply {
  const { address, name, type, decimals, cataloged } = found;
  const watchIt = button(t('token.watch'), `token:watch:${checksumAddress(address)}`, ButtonStyle.Primary);
  const buttons = isOutside ? [] : [watchIt];
  const page = addressPage(settings, address, 'token');
  if (page) buttons.push(linkButton(t('token.explorer'), page));
  const unknown = t('token.notGiven');
  const called = cataloged
    ? asName(name, t('token.unnamed'), undefined, t('alert.hiddenName'))
    : thirdPartyName(t, name, t('token.unnamed'));
  const title = [...new Set([called, symbolOf(found, t)])].join(' ').trimEnd();
  return embedReply(
    warning === null ? 'info' : 'warn',
    warning === null ? title : `⚠️ ${t('alert.imitation', { title })}`,
    [
      warning,
      fullAddress(address, settings, 'token'),
      decimals === null && isFungible(found) ? `-# ${t('token.withoutDecimals')}` : null,
    ],
    {
      fields: [
        { name: t('token.type'), value: thirdPartyName(t, type, unknown), inline: true },
        { name: t('token.decimals'), value: decimals === null ? unknown : String(decimals), inline: true },
        {
          name: t('token.cataloged'),
          value: cataloged === null ? unknown : cataloged ? t('token.yes') : t('token.no'),
          inline: true,
        },
        { name: t('token.supply'), value: supply(found, t, language) },
      ],
      components: rows(buttons),
    },
  );
}

/** The symbol as alerts write it. */
const symbolOf = ({ symbol, cataloged }: Token, t: Translate): string =>
  cataloged && symbol !== null ? asSymbol(symbol, '', t('alert.hiddenName')) : thirdPartyName(t, symbol, '');

/** NFTs have no decimals. */
const isFungible = ({ type }: Token) => !/721|1155/.test(type ?? '');

function supply(token: Token, t: Translate, language: Language): string {
  const { totalSupply: given } = token;
  const totalSupply = given === null ? null : wholeDigits(given);
  if (totalSupply === null) return t('token.notGiven');
  const raw = t('token.raw', { value: `\`${given}\`` });
  const decimals = token.decimals ?? (isFungible(token) ? null : 0);
  const amount =
    decimals !== null && `${writeNumber(inUnits(totalSupply, decimals), language)} ${symbolOf(token, t)}`.trimEnd();
  // A number with an exponent was rounded to about 16 digits.
  const isRounded = given !== totalSupply && /e/i.test(given!);
  const lines = [amount, decimals === 0 && !isRounded ? null : raw, isRounded && `-# ${t('token.rounded')}`];
  return lines.filter(Boolean).join('\n');
}
