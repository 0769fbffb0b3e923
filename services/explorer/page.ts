import { formatEther } from 'viem';
import type { Clock } from '../../src/domain/clock.ts';
import type { Node } from '../chain/node.ts';
import type { Address } from '../chain/transfers.ts';
import { type Html, html } from '../html.ts';

/** What pages are made with. */
export interface PageContext {
  /** The path prefix of the pages. */
  root: string;
  node: Node;
  nativeSymbol: string;
  clock: Clock;
}

/** A page, without its frame. */
export interface Page {
  status: number;
  title: string;
  body: Html;
}

/** An amount of the native coin. */
export function coins({ nativeSymbol }: PageContext, wei: bigint): Html {
  return html`${formatEther(wei)} ${nativeSymbol}`;
}

/** A link to another page. */
export function link({ root }: PageContext, kind: 'address' | 'token', address: Address, text?: string): Html {
  return html`<a href="${root}/${kind}/${address}">${text === undefined ? html`<code>${address}</code>` : text}</a>`;
}

/** The page for something that is not there. */
export function missing(title: string, hint: string, status = 404): Page {
  return { status, title, body: html`<h1>${title}</h1><p>${hint}</p>` };
}

/** The page for an invalid address. */
export const NOT_AN_ADDRESS = missing('This is not an address', 'An address is 0x and 40 hex digits.', 400);
