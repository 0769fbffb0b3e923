/** Makes what the browser loads, in memory: there is no build step. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

/** The page's files as text. */
export interface Bundle {
  html: string;
  script: string;
  style: string;
  icon: string;
}

const client = (name: string): string => fileURLToPath(new URL(`client/${name}`, import.meta.url));

/** Throws with esbuild's message when the client's code has a mistake. */
export async function bundle(): Promise<Bundle> {
  const [html, icon, built] = await Promise.all([
    readFile(client('index.html'), 'utf8'),
    readFile(client('icon.svg'), 'utf8'),
    build({
      entryPoints: [client('main.ts'), client('style.css')],
      outdir: '/page',
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2022',
      charset: 'utf8',
      legalComments: 'none',
      logLevel: 'silent',
      // The client has a tsconfig of its own for its editor and checks; nothing in it changes what is bundled.
      tsconfigRaw: {},
    }),
  ]);
  await stop();
  const text = (ending: string): string => built.outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { html, icon, script: text('.js'), style: text('.css') };
}
