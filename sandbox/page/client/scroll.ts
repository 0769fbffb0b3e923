/** Keeps the list of messages where the person wants it: at the newest ones, at an older place, or at a new reply. */
import { draw, ui } from './screen.ts';

/** Within this many pixels of the end, the list follows new messages. */
const NEAR_END = 120;

let watched: HTMLElement | undefined;
/** Where the page itself last scrolled to: the event of that must not count as the person's. */
let ownTop = -1;
/** The list's heights when it was last observed: after a change the browser may scroll on its own. */
let heights = '';

const heightsOf = (list: HTMLElement): string => `${list.clientHeight} ${list.scrollHeight}`;

/** Follows the person's scrolling, and pictures and fonts that change the height after the drawing. */
export function watchScroll(list: HTMLElement): void {
  if (list === watched) return;
  watched = list;
  list.addEventListener('scroll', () => onScroll(list));
  const resized = new ResizeObserver(() => {
    heights = heightsOf(list);
    if (ui.following) toEnd(list);
  });
  resized.observe(list);
  if (list.firstElementChild) resized.observe(list.firstElementChild);
}

function onScroll(list: HTMLElement): void {
  if (list.scrollTop === ownTop || heightsOf(list) !== heights) return;
  const following = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END;
  if (following === ui.following) return;
  ui.following = following;
  draw();
}

/**
 * Scrolls after a drawing: to the message that the person's action led to, otherwise to the end while following.
 *
 * @param isGrowing the message to reveal is still "thinking…", so it has to be revealed again.
 */
export function scrollToPlace(list: HTMLElement, isGrowing: boolean): void {
  const message = ui.reveal === '' ? null : list.querySelector<HTMLElement>(`[data-message="${ui.reveal}"]`);
  if (message) reveal(list, message);
  else if (ui.following) toEnd(list);
  if (message && !isGrowing) ui.reveal = '';
}

function reveal(list: HTMLElement, message: HTMLElement): void {
  const isLast = list.firstElementChild?.lastElementChild === message;
  const fits = message.offsetHeight <= list.clientHeight;
  if (isLast && fits) {
    if (!ui.following) draw();
    ui.following = true;
    toEnd(list);
    return;
  }
  if (fits) message.scrollIntoView({ block: 'nearest' });
  else message.scrollIntoView({ block: 'start' });
  ownTop = list.scrollTop;
  // Following would scroll a tall reply's first lines away again.
  const following = list.scrollHeight - list.scrollTop - list.clientHeight < 1;
  if (following !== ui.following) draw();
  ui.following = following;
}

function toEnd(list: HTMLElement): void {
  list.scrollTop = list.scrollHeight;
  ownTop = list.scrollTop;
}
