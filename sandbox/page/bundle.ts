/** Bundles the page's code in memory, so there is no build step. */
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

/** @throws with esbuild's message when the client's code does not compile. */
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
      // The client's tsconfig is for editors and checks only.
      tsconfigRaw: {},
    }),
  ]);
  await stop();
  const text = (ending: string): string => built.outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '';
  return { html, icon, script: text('.js'), style: text('.css') };
}
