import { renderMermaidSVG } from 'beautiful-mermaid';

// The colors of style.css.
const LIGHT = '--bg:#fff;--fg:#1f2328;--line:#8c959f;--accent:#3b46c4;--muted:#59636e';
const DARK = '--bg:#1b1c20;--fg:#dbdee1;--line:#6e7681;--accent:#8ea1ff;--muted:#9aa0a8';

/** Draws a Mermaid diagram as an SVG file, in light or dark colors as the reader prefers, without fonts of another site. */
export function drawDiagram(code: string): string {
  const svg = renderMermaidSVG(code);
  const themes = `<style>svg{${LIGHT}}@media (prefers-color-scheme: dark){svg{${DARK}}}</style>`;
  return svg
    .replace(/(<svg [^>]*?) style="[^"]*">/, `$1>${themes}`)
    .replace(/^\s*@import .*$/m, '')
    .replaceAll("'Inter', ", '');
}
