import { readFileSync } from 'node:fs';

/** The pages that code hosts look for in .github/, as pages of the site: VitePress reads no folder that begins with a dot. */
export default {
  paths: () =>
    ['CONTRIBUTING', 'SECURITY', 'CODE_OF_CONDUCT'].map((name) => ({
      params: { page: name.toLowerCase() },
      content: readFileSync(new URL(`../.github/${name}.md`, import.meta.url), 'utf8'),
    })),
};
