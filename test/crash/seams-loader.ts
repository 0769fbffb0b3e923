import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { standIn } from './seams.ts';

/** Preloaded into every process and thread of a mutant's tests: puts stand-ins into modules that Node loads. */
registerHooks({
  load(url, context, next) {
    const isFile = url.startsWith('file:') && !url.includes('?');
    const source = isFile ? standIn(fileURLToPath(url), `${url}?original`) : null;
    return source === null ? next(url, context) : { format: 'module', source, shortCircuit: true };
  },
});
