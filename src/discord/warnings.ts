import type { AddressText } from '../domain/address.ts';
import type { Alert } from '../domain/alert.ts';
import { DAY, HOUR, MINUTE } from '../domain/clock.ts';
import { checksumAddress } from '../domain/typed-address.ts';
import type { Warning } from '../domain/warning.ts';
import { code, linked, named, number, type Voice } from './line.ts';
import { differenceOf } from './look-alike.ts';

/** The color of a suspicious alert. */
export const WARNING = 0xffcc00;
/** Most pairs of look-alikes in one embed. */
const PAIRS_SHOWN = 3;

/** The warnings above the transfer, as lines. */
export function warningsOf(alerts: readonly Alert[], voice: Voice): string[] {
  const warnings = alerts.flatMap((alert) => alert.warnings.map((warning) => ({ warning, alert })));
  const pairs = new Map<string, string[]>();
  const imitations = new Set<string>();
  for (const { warning } of warnings) {
    if (warning.kind === 'look-alike') pairs.set(`${warning.address} ${warning.like}`, lookAlike(warning, voice));
    if (warning.kind === 'imitation') imitations.add(imitation(warning, voice));
  }
  const shown = [...pairs.values()].slice(0, PAIRS_SHOWN).flat();
  const warning = shown.length > 0 ? [voice.t('alert.lookAlikeWarning'), ...shown] : [];
  return [...warning, ...[...imitations].slice(0, PAIRS_SHOWN), ...otherProjectsOf(alerts, voice)];
}

/** Both addresses in full, one above the other, and where they differ. */
function lookAlike({ address, like, label }: Extract<Warning, { kind: 'look-alike' }>, voice: Voice): string[] {
  const { t } = voice;
  const known = t('alert.lookAlikeKnown');
  return [
    t('alert.lookAlikeFake'),
    // No link: it must not invite a click.
    `-# \`${checksumAddress(address)}\``,
    label === null ? known : `${known} · ${named(label, voice)}`,
    `-# ${linked(like, 'address', voice)}`,
    `-# ${t('alert.lookAlikeDifference', differenceOf(address, like))}`,
  ];
}

function imitation({ symbol, genuine }: Extract<Warning, { kind: 'imitation' }>, voice: Voice): string {
  const shown = code(symbol, voice.t('alert.unnamed'), voice);
  return genuine === null
    ? voice.t('alert.imitationOfCoin', { symbol: shown })
    : voice.t('alert.imitationOf', { symbol: shown, address: `\`${checksumAddress(genuine)}\`` });
}

/** The other projects that these events name, although they came to this one's URL, as lines. */
export function otherProjectsOf(alerts: readonly Alert[], voice: Voice): string[] {
  const foreign = alerts.flatMap(({ warnings }) => warnings.filter((warning) => warning.kind === 'other-project'));
  const projects = new Set(foreign.map(({ projectId }) => projectId));
  return [...projects]
    .slice(0, PAIRS_SHOWN)
    .map((id) => voice.t('alert.otherProject', { project: code(id, voice.t('alert.unnamed'), voice) }));
}

/** Whether one of these alerts warns of the address as a look-alike. */
export function isFake(address: AddressText, alerts: readonly Alert[]): boolean {
  return alerts.some(({ warnings }) =>
    warnings.some((warning) => warning.kind === 'look-alike' && warning.address === address),
  );
}

/** Remarks about uncertain facts, each once. `short`: without what the details explain. */
export function remarksOf(alerts: readonly Alert[], voice: Voice, short = false): string[] {
  const lines = alerts.flatMap((alert) => remarks(short ? plainer(alert) : alert, voice));
  return [...new Set(lines)].map((line) => (short ? line : `-# ${line}`));
}

/** An alert without its count, which the title shows. */
const plainer = (alert: Alert): Alert => ({ ...alert, count: 1, transfer: { ...alert.transfer, internal: false } });

function remarks({ transfer, count, warnings, reorganized }: Alert, voice: Voice): string[] {
  const { t } = voice;
  const lines: string[] = [];
  if (transfer.kind === 'unknown') {
    lines.push(t('alert.newTokenType', { type: code(transfer.tokenType, t('alert.tokenTypeNotGiven'), voice) }));
  }
  if (transfer.internal) lines.push(t('alert.internalTransfer'));
  if (count > 1) lines.push(t('alert.equalTransfers', { number: number(count, voice) }));
  if (!transfer.tokenIdExact) lines.push(t('alert.impreciseId'));
  if (transfer.kind === 'erc20' && transfer.decimals === null) lines.push(t('alert.unknownDecimals'));
  if (warnings.some(({ kind }) => kind === 'uncataloged')) lines.push(t('alert.uncataloged'));
  if (warnings.some(({ kind }) => kind === 'unchecked')) lines.push(t('alert.unchecked'));
  for (const warning of warnings) {
    if (warning.kind === 'late') lines.push(t('alert.late', { duration: duration(warning.ms, voice) }));
  }
  if (reorganized) {
    const block = transfer.blockNumber;
    lines.push(
      block === null ? t('alert.reorganizedSomewhere') : t('alert.reorganized', { block: number(block, voice) }),
    );
  }
  return lines;
}

/** A time in its two largest units: `2 hr, 5 min`. */
export function duration(ms: number, { language }: Pick<Voice, 'language'>): string {
  const rounded = Math.max(1, Math.round(ms / MINUTE)) * MINUTE;
  const parts: [amount: number, unit: string][] = [
    [Math.floor(rounded / DAY), 'day'],
    [Math.floor((rounded % DAY) / HOUR), 'hour'],
    [(rounded % HOUR) / MINUTE, 'minute'],
  ];
  const units = parts
    .filter(([amount]) => amount > 0)
    .slice(0, 2)
    .map(([amount, unit]) =>
      new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(amount),
    );
  return new Intl.ListFormat(language, { type: 'unit', style: 'short' }).format(units);
}
