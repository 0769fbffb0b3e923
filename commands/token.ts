import { ButtonStyle } from 'discord.js';
import type { Command, Reply } from '../src/discord/command.ts';
import { addressPage } from '../src/discord/render/wording.ts';
import {
  type AddressText,
  type Asset,
  checksumAddress,
  NATIVE_SENTINEL,
  parseAddress,
  parseWatchable,
} from '../src/domain/address.ts';
import { wholeDigits } from '../src/domain/amount.ts';
import { imitatedBy } from '../src/domain/scam.ts';
import { DEFAULT_CHOICES } from '../src/domain/subscription.ts';
import { asName, asSymbol } from '../src/domain/text.ts';
import type { Token } from '../src/domain/token.ts';
import { inUnits } from '../src/domain/transfer.ts';
import { UserError } from '../src/errors.ts';
import type { Translate } from '../src/languages/index.ts';
import { type Language, writeNumber } from '../src/languages/languages.ts';
import { checkTarget, seenBy } from './shared/channels.ts';
import { button, linkButton, rows } from './shared/components.ts';
import { define, lookedUp } from './shared/define.ts';
import { explain, notConfigured } from './shared/failure.ts';
import { countLookUp } from './shared/fair-use.ts';
import { readAddress } from './shared/names.ts';
import { eachNetwork, hasSeveral, naming, networkOption, ofNetwork, pickedNetwork } from './shared/networks.ts';
import { addressInCode, embedReply, fullAddress, readTyped, thirdPartyName, withInput } from './shared/reply.ts';
import type { Context } from './shared/services.ts';
import { addressChoice, choicesWith } from './shared/suggestions.ts';
import { knownIn, tokenBook, tokenChoices } from './shared/tokens.ts';
import { watch } from './subscription/add.ts';

const MAX_NETWORKS = 3;

export const token = {
  section: 'lookUp',
  data: define('token', 'Look up a token by its contract address', [
    lookedUp('address', 'The token’s contract: 0x followed by 40 hexadecimal digits'),
    networkOption('Its network (default: the first that knows it)'),
  ]),
  access: 'all',
  public: true,
  anywhere: true,
  async execute(interaction, context) {
    const { own, settings } = context;
    const picked = pickedNetwork(interaction, { ...context, t: own });
    const networks = eachNetwork(context, picked).filter(({ explorer }) => explorer !== null);
    if (networks.length === 0) throw notConfigured(own, 'explorer', 'EXPLORER_API_URL');
    const typed = interaction.options.getString('address', true);
    const address = await contractOf(typed, context, picked);
    if (address === 'native' || address === NATIVE_SENTINEL)
      throw withInput(new UserError(own('token.native')), typed, own);
    const shown = fullAddress(address, hasSeveral(settings) ? { explorerUrl: undefined } : settings);
    const refusals: { on: Context; error: UserError }[] = [];
    for (const on of networks.slice(0, MAX_NETWORKS)) {
      const response = await on.explorer!.token(address, () => countLookUp('explorer', on));
      if (response.status === 'found') {
        const reply = show(response.token, await warningOf(response.token, interaction.guildId, on), on);
        return naming(reply, on);
      }
      const isUnknown = response.status === 'not-found' || response.status === 'invalid';
      const key = response.status === 'invalid' ? 'token.invalid' : 'token.notFound';
      const text = isUnknown ? own(key, { address: shown }) : explain(own, response, 'explorer');
      const error = new UserError(text);
      refusals.push({ on, error: response.status === 'rejected' ? withInput(error, typed, own) : error });
    }
    if (!hasSeveral(settings)) throw refusals[0]!.error;
    const lines = refusals.map(({ on, error }) => ofNetwork(error.message, on));
    const unlisted = networks.slice(MAX_NETWORKS).map(({ network }) => network.title);
    if (unlisted.length > 0) lines.push(own('token.notAsked', { networks: unlisted.join(own('reply.comma')) }));
    throw new UserError(lines.join('\n'));
  },
  async autocomplete(interaction, context) {
    const { t } = context;
    const picked = pickedNetwork(interaction, context);
    const typed = interaction.options.getFocused();
    const { names, seesAll } = await namesFor(context);
    // Recent tokens are those of the whole guild, so only people who see all of its channels get them.
    const known = await knownIn(seesAll ? interaction.guildId : null, context, picked);
    const moved = known.filter(
      (token) => token.token !== 'native' && (token.seen || typed !== '' || names.has(token.token)),
    );
    const offered = tokenChoices(moved, t, names);
    const listed = new Set(moved.map(({ token }) => token));
    return choicesWith(typed, [
      ...offered.flatMap(({ choice, isGenuine }) => (isGenuine ? choice : [])),
      ...[...names].flatMap(([address, name]) => (listed.has(address) ? [] : addressChoice(address, name))),
      ...offered.flatMap(({ choice, isGenuine }) => (isGenuine ? [] : choice)),
    ]);
  },
  buttons: {
    watch: {
      response: 'reply',
      async press(interaction, [text = ''], context) {
        const address = readAddress(text, context.t, { parse: parseWatchable });
        const { channelId } = interaction;
        await checkTarget(channelId, null, context);
        return watch(context, { ...DEFAULT_CHOICES, address, channelId });
      },
    },
  },
} satisfies Command<Context>;

/** Only the names that this person may know. */
async function namesFor(context: Context) {
  if (context.isOutside) return { names: new Map<AddressText, string>(), seesAll: false };
  const { visible, unseen } = await seenBy(context);
  const shown = new Set(visible.map(({ address }) => address));
  const secret = new Set(unseen.map(({ address }) => address).filter((address) => !shown.has(address)));
  // Only people who manage the bot see all labels: others get the names that alerts show them.
  const mayKnow = (address: AddressText) => (context.manages ? !secret.has(address) : shown.has(address));
  const book = (await context.labels.list(context.guildId)).filter(({ address }) => mayKnow(address));
  const names = new Map([
    ...book.map(({ address, name }) => [address, name] as const),
    ...visible.flatMap(({ address, label }) => (label === null ? [] : [[address, label] as const])),
  ]);
  return { names, seesAll: secret.size === 0 };
}

async function contractOf(typed: string, context: Context, network: number | null): Promise<Asset> {
  const { own } = context;
  const { names, seesAll } = await namesFor(context);
  const isNamed = [...names.values()].some((name) => name.toLowerCase() === typed.trim().toLowerCase());
  const parsed = parseAddress(typed);
  if (isNamed || parsed.ok || parsed.fault !== 'form' || /^0x/i.test(typed.trim()))
    return readAddress(typed, own, { names });
  // No guild has an empty ID: that leaves the catalog.
  const guildId = seesAll ? context.guildId : '';
  const tokens = await tokenBook({ ...context, guildId, t: own }, undefined, network);
  return readTyped(() => tokens.find(typed), typed, own);
}

async function warningOf(found: Token, guildId: string, context: Context): Promise<string | null> {
  const { t, isOutside } = context;
  if (found.cataloged === true) return null;
  const genuine = imitatedBy(
    found.address,
    found.symbol,
    await knownIn(isOutside ? null : guildId, context, context.network.id),
  );
  if (genuine === null) return null;
  const symbol = thirdPartyName(t, found.symbol, '?');
  return genuine === 'native'
    ? t('alert.imitationOfCoin', { symbol })
    : t('alert.imitationOf', { symbol, address: addressInCode(genuine) });
}

function show(found: Token, warning: string | null, { t, language, settings, isOutside }: Context): Reply {
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
