const IS_HTML = Symbol('HTML');

export interface Html {
  readonly text: string;
  readonly [IS_HTML]: true;
}

/** The text is not escaped, so nothing in it may come from others. */
export const rawHtml = (text: string): Html => ({ text, [IS_HTML]: true });

type Part = string | number | bigint | Html | readonly Html[];

export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return rawHtml(String.raw({ raw: strings }, ...parts.map(toText)));
}

function toText(part: Part): string {
  if (typeof part === 'object') return IS_HTML in part ? part.text : part.map((inner) => inner.text).join('');
  return visible(String(part)).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Shows characters that reverse text, or hide in it, as boxes. */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, '\u25A1');
}

/** Headers of a page that loads nothing, runs nothing, and cannot be framed. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const STYLE = rawHtml(`
  :root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 65%, transparent); --link: light-dark(#2456c9, #8fb4ff); }
  * { box-sizing: border-box; }
  body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
  h1 { font-size: 1.4rem; margin: 0 0 1rem; } h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
  a { color: var(--link); }
  dl { display: grid; grid-template-columns: 9rem 1fr; gap: .4rem 1rem; margin: 0; }
  dt, small, .soft { color: var(--soft); } dd { margin: 0; }
  code { font-family: ui-monospace, monospace; font-size: .95em; }
  article { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: 0 0 .75rem; }
  article h2 { margin: 0; } article p { margin: .25rem 0; }
  form { display: flex; gap: .5rem; margin: 0 0 1rem; } input, button { font: inherit; padding: .4rem .6rem; border: 1px solid var(--line); border-radius: .4rem; } input { flex: 1; min-width: 0; }
  nav a[aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
  nav { display: flex; flex-wrap: wrap; gap: .25rem .75rem; margin: 0 0 1rem; }
  @media (max-width: 35rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin: 0 0 .5rem; } }
`);

export function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`.text;
}
