/**
 * What lets a process or a thread of this program start fast: compiled code and stripped sources are kept, and our own modules are
 * found without a search. Plain JavaScript, as it comes before whatever strips types.
 */
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { openKeptSources } from './kept-sources.mjs';

const root = new URL('../../../', import.meta.url);
const sources = new URL('src/', root).href;
/** Beside the dependencies, where only who may install can write. */
const cache = fileURLToPath(new URL('node_modules/.cache/compile', root));

/**
 * Holds for what this thread imports from now on. A Node that lacks something of it goes without. Answers what keeps by then all that was
 * imported: for threads, which others end.
 */
export function quickStart() {
  nodeModule.enableCompileCache?.(cache);
  if (nodeModule.registerHooks === undefined) return () => undefined;
  const { sourceOf, keep } = openKeptSources(`${cache}/sources`, sources);
  nodeModule.registerHooks({
    resolve,
    load: (url, context, next) => {
      const source = isOurs(url) ? sourceOf(url) : undefined;
      return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
    },
  });
  return () => {
    nodeModule.flushCompileCache?.();
    keep();
  };
}

function resolve(specifier, context, next) {
  const { parentURL } = context;
  // A path with its extension, from one of our modules to another: neither links nor packages are on the way.
  if (parentURL !== undefined && specifier.startsWith('.') && parentURL.startsWith(sources)) {
    if (specifier.endsWith('.ts')) return known(beside(specifier, parentURL), 'module-typescript');
    if (specifier.endsWith('.js')) return known(beside(specifier, parentURL), 'module');
  }
  return next(specifier, context);
}

function known(url, format) {
  return { url, format, shortCircuit: true };
}

/** As `new URL` has it, for names without anything to escape or to ask. */
function beside(specifier, parentURL) {
  let folder = parentURL.slice(0, parentURL.lastIndexOf('/'));
  let rest = specifier;
  for (;;) {
    if (rest.startsWith('../')) {
      folder = folder.slice(0, folder.lastIndexOf('/'));
      rest = rest.slice(3);
    } else if (rest.startsWith('./')) rest = rest.slice(2);
    else return `${folder}/${rest}`;
  }
}

function isOurs(url) {
  return url.startsWith(sources) && (url.endsWith('.ts') || url.endsWith('.js'));
}
