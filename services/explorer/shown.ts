import { formatEther } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import type { Node } from '../chain/node.ts';
import type { Address } from '../chain/transfers.ts';
import { type Html, html } from '../html.ts';

/** The pages' root and what they read. */
export interface PageParts {
  /** The path prefix of the pages. */
  root: string;
  node: Node;
  nativeSymbol: string;
  clock: Clock;
}

/** What a page shows. */
export interface Shown {
  status: number;
  title: string;
  body: Html;
}

/** An amount of the native coin. */
export function coins({ nativeSymbol }: PageParts, wei: bigint): Html {
  return html`${formatEther(wei)} ${nativeSymbol}`;
}

/** A link to another page. */
export function link({ root }: PageParts, kind: 'address' | 'token', address: Address, text?: string): Html {
  return html`<a href="${root}/${kind}/${address}">${text === undefined ? html`<code>${address}</code>` : text}</a>`;
}

/** A page about something that is not there. */
export function missing(title: string, hint: string, status = 404): Shown {
  return { status, title, body: html`<h1>${title}</h1><p>${hint}</p>` };
}

/** The page for an invalid address. */
export const NOT_AN_ADDRESS = missing('This is not an address', 'An address is 0x and 40 hex digits.', 400);
