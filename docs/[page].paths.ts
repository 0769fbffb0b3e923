import { readFileSync } from 'node:fs';

/** VitePress reads no folder that begins with a dot, such as .github/. */
export default {
  paths: () =>
    ['CONTRIBUTING', 'SECURITY', 'CODE_OF_CONDUCT'].map((name) => ({
      params: { page: name.toLowerCase() },
      content: readFileSync(new URL(`../.github/${name}.md`, import.meta.url), 'utf8'),
    })),
};
