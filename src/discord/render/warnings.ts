import { type AddressText, checksumAddress } from '../../domain/address.ts';
import { type Alert, isForgeable, type Warning } from '../../domain/alert.ts';
import { BALANCE_DIGITS, inUnits, isDifference, rounded, type Transfer } from '../../domain/transfer.ts';
import { writeNumber } from '../../languages/languages.ts';
import { assetName, code, duration, linked, named, nameOf, number, type RenderContext, whatMoved } from './wording.ts';

export const WARNING_COLOR = 0xffcc00;
const MAX_WARNINGS = 3;

/** Returns the same title if there is nothing to warn of. */
export function warnedTitle(title: string, alerts: readonly Alert[], { t }: RenderContext): string {
  const kinds = new Set(alerts.flatMap(({ warnings }) => warnings.map(({ kind }) => kind)));
  if (kinds.has('look-alike')) return `⚠️ ${t('alert.lookAlike', { title })}`;
  if (kinds.has('imitation')) return `⚠️ ${t('alert.imitation', { title })}`;
  return kinds.has('other-project') ? `⚠️ ${title}` : title;
}

export function warningsOf(alerts: readonly Alert[], context: RenderContext): string[] {
  const pairs = new Map<string, string[]>();
  const imitations = new Set<string>();
  for (const warning of alerts.flatMap(({ warnings }) => warnings)) {
    if ('isRepeat' in warning) continue;
    if (warning.kind === 'look-alike') pairs.set(`${warning.address} ${warning.like}`, lookAlike(warning, context));
    if (warning.kind === 'imitation') imitations.add(imitation(warning, context));
  }
  const shown = [...pairs.values()].slice(0, MAX_WARNINGS).flat();
  const warning = shown.length > 0 ? [context.t('alert.lookAlikeWarning'), ...shown] : [];
  return [...warning, ...[...imitations].slice(0, MAX_WARNINGS), ...otherProjectsOf(alerts, context)];
}

function lookAlike(
  { address, like, label }: Extract<Warning, { kind: 'look-alike' }>,
  context: RenderContext,
): string[] {
  const { t } = context;
  const known = t('alert.lookAlikeKnown');
  return [
    t('alert.lookAlikeFake'),
    // No link: it must not invite a click.
    `-# \`${checksumAddress(address)}\``,
    label === null ? known : `${known} · ${named(label, context)}`,
    `-# ${linked(like, 'address', context)}`,
    `-# ${t('alert.lookAlikeDifference', differingDigits(address, like))}`,
  ];
}

/** Eight characters of each from where they begin to differ, as inline code. */
export function differingDigits(fake: AddressText, known: AddressText): { fake: string; known: string } {
  let start = 0;
  while (start < fake.length && fake[start] === known[start]) start++;
  const part = (address: AddressText) => `\`…${checksumAddress(address).slice(start, start + 8)}…\``;
  return { fake: part(fake), known: part(known) };
}

function imitation({ symbol, genuine }: Extract<Warning, { kind: 'imitation' }>, context: RenderContext): string {
  const shown = code(symbol, context.t('alert.unnamed'), context);
  return genuine === null
    ? context.t('alert.imitationOfCoin', { symbol: shown })
    : context.t('alert.imitationOf', { symbol: shown, address: `\`${checksumAddress(genuine)}\`` });
}

/** Projects that these events name, although they arrived at this one's URL. */
export function otherProjectsOf(alerts: readonly Alert[], context: RenderContext): string[] {
  const foreign = alerts.flatMap(({ warnings }) => warnings.filter((warning) => warning.kind === 'other-project'));
  const projects = new Set(foreign.map(({ projectId }) => projectId));
  return [...projects]
    .slice(0, MAX_WARNINGS)
    .map((id) => context.t('alert.otherProject', { project: code(id, context.t('alert.unnamed'), context) }));
}

export function likeOf(address: AddressText, alerts: readonly Alert[]): AddressText | null {
  for (const { warnings } of alerts) {
    for (const warning of warnings)
      if (warning.kind === 'look-alike' && warning.address === address) return warning.like;
  }
  return null;
}

/** Compact ones leave out the count and whether a contract made the transfer. */
export function remarksOf(alerts: readonly Alert[], context: RenderContext, { isCompact = false } = {}): string[] {
  const { t } = context;
  const lines = new Set<string>();
  let hasBalances = false;
  for (const alert of alerts) {
    const { transfer, count, warnings } = alert;
    if (warnings.some((warning) => 'isRepeat' in warning)) lines.add(t('alert.repeatedWarning'));
    if (transfer.kind === 'unknown') {
      lines.add(t('alert.newTokenType', { type: code(transfer.tokenType, t('alert.tokenTypeNotGiven'), context) }));
    }
    if (isDifference(transfer)) {
      lines.add(t('alert.unexplained', { block: number(transfer.blockNumber ?? 0, context) }));
    } else if (transfer.internal && !isCompact) lines.add(t('alert.internalTransfer'));
    if (count > 1 && !isCompact) lines.add(t('alert.equalTransfers', { number: number(count, context) }));
    if (!transfer.tokenIdExact) lines.add(t('alert.impreciseId'));
    if (transfer.kind === 'erc20' && transfer.decimals === null) lines.add(t('alert.unknownDecimals'));
    if (isForgeable(alert)) lines.add(t('alert.forgeable'));
    else if (warnings.some(({ kind }) => kind === 'uncataloged')) lines.add(t('alert.uncataloged'));
    if (warnings.some(({ kind }) => kind === 'unchecked')) lines.add(t('alert.unchecked'));
    for (const line of chainRemarks(alert, context)) lines.add(line);
    hasBalances ||= transfer.balances !== undefined;
  }
  return hasBalances && !context.isShort ? [...lines, ...balancesOf(alerts, context)] : [...lines];
}

const MAX_BALANCES = 5;

function balancesOf(alerts: readonly Alert[], context: RenderContext): string[] {
  const shown: { address: AddressText; transfer: Transfer; value: string; block: number }[] = [];
  for (const { transfer, matches } of alerts) {
    for (const { address, showsBalance } of matches) {
      const value = transfer.balances?.of[address];
      if (showsBalance && value !== undefined)
        shown.push({ address, transfer, value, block: transfer.balances!.block });
    }
  }
  const isOne = shown.every(({ address }) => address === shown[0]!.address);
  const plain = { ...context, linksTokens: false };
  const lines = new Set<string>();
  for (const { address, transfer, value, block } of shown) {
    const units = transfer.decimals === null ? null : rounded(inUnits(value, transfer.decimals), BALANCE_DIGITS);
    const amount =
      units === null
        ? whatMoved({ ...transfer, value }, plain)
        : `${writeNumber(units, context.language)} ${assetName(transfer, plain)}`;
    const words = { amount, block: number(block, context) };
    const name = nameOf(address, alerts, context) ?? `\`${checksumAddress(address)}\``;
    lines.add(context.t(isOne ? 'alert.balance' : 'alert.balanceOf', { ...words, name }));
  }
  return [...lines].slice(0, MAX_BALANCES);
}

export function chainRemarks({ transfer, warnings, reorganized }: Alert, context: RenderContext): string[] {
  const { t } = context;
  const lines: string[] = [];
  for (const warning of context.isShort ? [] : warnings) {
    if (warning.kind === 'late' || warning.kind === 'found')
      lines.push(t(`alert.${warning.kind}`, { duration: duration(warning.ms, context) }));
  }
  if (transfer.settled === 0) lines.push(t('alert.notOnChain'));
  if (reorganized) {
    const block = transfer.blockNumber;
    lines.push(
      block === null ? t('alert.reorganizedSomewhere') : t('alert.reorganized', { block: number(block, context) }),
    );
  }
  return lines;
}
