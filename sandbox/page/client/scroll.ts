/** The list stays at the newest messages, at an older place, or at a new reply. */
import { draw, ui } from './screen.ts';

/** In pixels from the end: the list follows new messages. */
const NEAR_END = 120;

let watched: HTMLElement | undefined;
/** Where the page itself last scrolled to. That event must not count as the person's. */
let ownTop = -1;
/** The list's heights when last observed. After a change the browser may scroll on its own. */
let heights = '';

const heightsOf = (list: HTMLElement): string => `${list.clientHeight} ${list.scrollHeight}`;

/** Pictures and fonts change the height after the drawing, too. */
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

/** @param isGrowing the message to reveal still says "thinking…", so it has to be revealed again. */
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
