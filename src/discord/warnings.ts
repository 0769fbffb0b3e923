import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import type { Warning } from '../domain/warning.ts';
import { differenceOf } from './look-alike.ts';
import type { RenderContext } from './render-context.ts';
import { code, duration, linked, named, number } from './wording.ts';

/** The color of a suspicious alert. */
export const WARNING_COLOR = 0xffcc00;
/** Maximum number of warnings of one kind in one embed. */
const MAX_WARNINGS = 3;

/** The warnings above the transfer, as lines. */
export function warningsOf(alerts: readonly Alert[], context: RenderContext): string[] {
  const warnings = alerts.flatMap((alert) => alert.warnings.map((warning) => ({ warning, alert })));
  const pairs = new Map<string, string[]>();
  const imitations = new Set<string>();
  for (const { warning } of warnings) {
    if (warning.kind === 'look-alike') pairs.set(`${warning.address} ${warning.like}`, lookAlike(warning, context));
    if (warning.kind === 'imitation') imitations.add(imitation(warning, context));
  }
  const shown = [...pairs.values()].slice(0, MAX_WARNINGS).flat();
  const warning = shown.length > 0 ? [context.t('alert.lookAlikeWarning'), ...shown] : [];
  return [...warning, ...[...imitations].slice(0, MAX_WARNINGS), ...otherProjectsOf(alerts, context)];
}

/** Both addresses in full, one above the other, and where they differ. */
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
    `-# ${t('alert.lookAlikeDifference', differenceOf(address, like))}`,
  ];
}

function imitation({ symbol, genuine }: Extract<Warning, { kind: 'imitation' }>, context: RenderContext): string {
  const shown = code(symbol, context.t('alert.unnamed'), context);
  return genuine === null
    ? context.t('alert.imitationOfCoin', { symbol: shown })
    : context.t('alert.imitationOf', { symbol: shown, address: `\`${checksumAddress(genuine)}\`` });
}

/** The other projects that these events name, although they arrived at this one's URL, as lines. */
export function otherProjectsOf(alerts: readonly Alert[], context: RenderContext): string[] {
  const foreign = alerts.flatMap(({ warnings }) => warnings.filter((warning) => warning.kind === 'other-project'));
  const projects = new Set(foreign.map(({ projectId }) => projectId));
  return [...projects]
    .slice(0, MAX_WARNINGS)
    .map((id) => context.t('alert.otherProject', { project: code(id, context.t('alert.unnamed'), context) }));
}

/** Whether one of these alerts warns of the address as a look-alike. */
export function isFake(address: AddressText, alerts: readonly Alert[]): boolean {
  return alerts.some(({ warnings }) =>
    warnings.some((warning) => warning.kind === 'look-alike' && warning.address === address),
  );
}

/** Remarks about uncertain facts, each once. `short`: without those about counts and contracts. */
export function remarksOf(alerts: readonly Alert[], context: RenderContext, short = false): string[] {
  const lines = alerts.flatMap((alert) => remarks(short ? withoutDetails(alert) : alert, context));
  return [...new Set(lines)].map((line) => (short ? line : `-# ${line}`));
}

/** An alert without what a compact title shows or leaves out: its count, and whether a contract made it. */
const withoutDetails = (alert: Alert): Alert => ({
  ...alert,
  count: 1,
  transfer: { ...alert.transfer, internal: false },
});

function remarks({ transfer, count, warnings, reorganized }: Alert, context: RenderContext): string[] {
  const { t } = context;
  const lines: string[] = [];
  if (transfer.kind === 'unknown') {
    lines.push(t('alert.newTokenType', { type: code(transfer.tokenType, t('alert.tokenTypeNotGiven'), context) }));
  }
  if (transfer.internal) lines.push(t('alert.internalTransfer'));
  if (count > 1) lines.push(t('alert.equalTransfers', { number: number(count, context) }));
  if (!transfer.tokenIdExact) lines.push(t('alert.impreciseId'));
  if (transfer.kind === 'erc20' && transfer.decimals === null) lines.push(t('alert.unknownDecimals'));
  if (warnings.some(({ kind }) => kind === 'uncataloged')) lines.push(t('alert.uncataloged'));
  if (warnings.some(({ kind }) => kind === 'unchecked')) lines.push(t('alert.unchecked'));
  for (const warning of warnings) {
    if (warning.kind === 'late') lines.push(t('alert.late', { duration: duration(warning.ms, context) }));
  }
  if (reorganized) {
    const block = transfer.blockNumber;
    lines.push(
      block === null ? t('alert.reorganizedSomewhere') : t('alert.reorganized', { block: number(block, context) }),
    );
  }
  return lines;
}
