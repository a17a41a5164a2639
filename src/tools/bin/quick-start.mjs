/**
 * What lets a process or a thread of this program start fast: compiled code is kept, of dependencies by Node and of our own modules by
 * src/tools/bin/modules. Plain JavaScript, as it comes before whatever strips types.
 */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
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
  const { href } = pathToFileURL(entry);
  const kept = isOfProgram(href) ? keptBy(href) : null;
  if (kept === null) {
    await import(href);
    return () => nodeModule.flushCompileCache?.();
  }
  const { load, keep } = openModules(kept);
  await load(href);
  return () => {
    nodeModule.flushCompileCache?.();
    keep();
  };
}

/** The file where modules of this program are kept. null: there is none and may be none, so that to make them would be in vain. */
function keptBy(url) {
  // the name of that folder tells by which Node, and with which of its flags; none: it may not be written
  const folder = nodeModule.getCompileCacheDir?.();
  if (folder === undefined) return null;
  const modules = `${folder}/modules`;
  const file = `${modules}/${url.split('/').slice(-2).join('-')}`;
  if (existsSync(file)) return file;
  try {
    mkdirSync(modules, { recursive: true });
    accessSync(modules, constants.W_OK);
    return file;
  } catch {
    return null;
  }
}
