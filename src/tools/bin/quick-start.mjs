/**
 * What lets a process or a thread of this program start fast: compiled code is kept, and our own modules are found without a search.
 * Plain JavaScript, as it comes before whatever strips types.
 */
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../../', import.meta.url);
const sources = new URL('src/', root).href;

/** Holds for what this thread imports from now on. A Node that lacks something of it goes without. */
export function quickStart() {
  // Beside the dependencies, where only who may install can write.
  nodeModule.enableCompileCache?.(fileURLToPath(new URL('node_modules/.cache/compile', root)));
  nodeModule.registerHooks?.({ resolve });
}

function resolve(specifier, context, next) {
  const { parentURL } = context;
  if (parentURL === undefined) return next(specifier, context);
  // A path with its extension, from one of our modules to another: neither links nor packages are on the way.
  if (specifier.startsWith('.') && parentURL.startsWith(sources)) {
    if (specifier.endsWith('.ts')) return known(new URL(specifier, parentURL).href, 'module-typescript');
    if (specifier.endsWith('.js')) return known(new URL(specifier, parentURL).href, 'module');
  }
  return next(specifier, context);
}

function known(url, format) {
  return { url, format, shortCircuit: true };
}
