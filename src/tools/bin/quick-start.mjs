/**
 * What lets a process or a thread of this program start fast: compiled code is kept, of dependencies by Node and of our own modules by
 * src/tools/bin/modules. Plain JavaScript, as it comes before whatever strips types.
 */
import * as nodeModule from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isOfProgram, openModules } from './modules/load.mjs';

/** Beside the dependencies, where only who may install can write. */
const cache = fileURLToPath(new URL('../../../node_modules/.cache/compile', import.meta.url));

/**
 * Runs `entry`, the path of a module. Answers what keeps by then all that was imported: for threads, which others end.
 */
export async function runQuickly(entry) {
  nodeModule.enableCompileCache?.(cache);
  // the name of that folder tells by which Node, and with which of its flags
  const folder = nodeModule.getCompileCacheDir?.() ?? `${cache}/${process.version}-${process.arch}`;
  const { href } = pathToFileURL(entry);
  if (!isOfProgram(href)) {
    await import(href);
    return () => nodeModule.flushCompileCache?.();
  }
  const name = href.split('/').slice(-2).join('-');
  const { load, keep } = openModules(`${folder}/modules/${name}`);
  await load(href);
  return () => {
    nodeModule.flushCompileCache?.();
    keep();
  };
}
