/**
 * Loads modules of this program as functions (src/tools/bin/modules/rewrite.mjs), kept with their compiled code
 * (src/tools/bin/modules/pack.mjs). What is not understood is Node's own to load, which then gets from here what that imports: no module
 * is there twice.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { addToPack, openPack, stampOf } from './pack.mjs';

/** Names of modules follow, which begin with a slash. */
const sources = new URL('../../..', import.meta.url).href.replace(/\/$/, '');
const folder = fileURLToPath(sources);
/**
 * Packages that no other package here imports, with the module that an import of each means: they are as modules of this program, in a
 * folder of their own.
 */
const packages = new Map([['postgres', 'src/index.js']]);
/** Before the name of a package. */
const packageMark = '/:';
/** by package; null: it is not installed */
const packageFolders = new Map();
/** by package: what addresses begin with that Node has for its modules; null: it is not installed */
const packageStarts = new Map();
/** Under which a process or thread has `load` for what Node loads. */
const loaderSymbol = Symbol.for('conversion-job-service.load');
const rewritingNeeded = new Error('a module is not kept');

/** Whether `load` knows what to do with it. */
export function isOfProgram(url) {
  return url.startsWith(`${sources}/`);
}

/**
 * @param {string} file where modules are kept
 * @returns {{ load: (url: string) => Promise<object>, keep: () => void }} `load`: a module of this program by its URL; `keep`: adds what
 *   was missing, as the end of a process or thread does by itself
 */
export function openModules(file) {
  const { pieceOf } = openPack(file);
  /** by name; null: Node's own to load; undefined: not looked for */
  const modules = new Map();
  /** by specifier: what packages and Node itself export */
  const outside = new Map();
  let rewriting = null;
  let isLeft = false;

  function keep() {
    const made = new Map();
    for (const module of modules.values()) {
      if (!module?.isMade || module.stamp === null || !module.isDone) continue;
      made.set(module.name, { ...module, compiled: module.script.createCachedData() });
      module.isMade = false;
    }
    if (made.size > 0 && hasFlagsOf(file)) addToPack(file, made, pathOf);
  }

  /** With all that it imports. null: Node has to load it. Throws `rewritingNeeded` where one is not kept, and cannot be made yet. */
  function find(name) {
    const known = modules.get(name);
    if (known !== undefined) return known;
    const before = modules.size;
    const module = kept(name) ?? make(name);
    modules.set(name, module);
    if (module === null) return null;
    try {
      let isLinked = link(module);
      // what has changed may no longer export what this one imports
      if (isLinked && !module.isMade && module.needed.some(({ isMade }) => isMade))
        isLinked = Object.assign(module, make(name) ?? { imports: null }).imports !== null && link(module);
      if (isLinked) return module;
    } catch (error) {
      for (const one of [...modules.keys()].slice(before)) modules.delete(one);
      throw error;
    }
    // what imports this one while it is looked for has to come from where this one comes
    if (module.isCircular) for (const one of [...modules.keys()].slice(before)) modules.set(one, null);
    modules.set(name, null);
    return null;
  }

  function kept(name) {
    const piece = pieceOf(name);
    if (piece === undefined || piece.stamp !== stampOf(pathOf(name))) return null;
    const script = scriptOf(name, piece.code, piece.compiled);
    return { ...piece, name, script, isMade: script.cachedDataRejected };
  }

  function make(name) {
    if (rewriting === null) throw rewritingNeeded;
    const path = pathOf(name);
    try {
      const stamp = stampOf(path);
      const text = readFileSync(path, 'utf8');
      const source = name.endsWith('.ts') ? rewriting.withoutTypes(text) : text;
      for (const mayAwait of [false, true]) {
        const form = rewriting.rewrite(source, mayAwait);
        if (form === null) return null;
        const script = scriptOrNull(name, form.code);
        const imports = form.imports.map((specifier) => resolved(specifier, name));
        if (script !== null) return { ...form, imports, stamp, name, script, isMade: true };
      }
    } catch {
      // Node says what is wrong with it
    }
    return null;
  }

  /** Whether all that it imports is known, and exports what it wants. */
  function link(module) {
    module.needed = [];
    for (const [at, one] of module.imports.entries()) {
      if (!isOurs(one)) continue;
      const found = find(one);
      if (found === null) return false;
      // of one that imports this one only functions are there in time
      const isBegun = !found.isLinked;
      if (isBegun) found.isCircular = true;
      if (isBegun && (found.awaits || module.awaits)) return false;
      const there = isBegun && module.wanted !== undefined ? found.hoisted : found.exports;
      if (there === undefined || module.wanted?.[at].some((each) => !there.includes(each))) return false;
      module.needed.push(found);
    }
    module.isLinked = true;
    return true;
  }

  async function load(url) {
    const name = url.slice(sources.length);
    let module;
    try {
      module = find(name);
    } catch (error) {
      if (error !== rewritingNeeded) throw error;
      rewriting = await import('./rewrite.mjs');
      module = find(name);
    }
    return module === null ? leave(urlOf(name)) : run(module);
  }

  async function run(module) {
    if (module.isDone) return module.results;
    const order = [];
    addInOrder(module, order, new Set());
    const awaited = [];
    for (const { imports } of order) {
      for (const one of imports) {
        if (isOurs(one) || outside.has(one)) continue;
        const found = ofNode(one);
        if (found !== null) outside.set(one, found);
        else awaited.push(importOutside(one).then((exported) => outside.set(one, exported)));
      }
    }
    if (awaited.length > 0) await Promise.all(awaited);
    for (const one of order) if (!one.awaits && one.turns === undefined) begin(one);
    for (const one of order) {
      if (one.isDone) continue;
      if (one.failure !== undefined) throw one.failure.error;
      try {
        if (one.awaits) one.results = await (one.pending ??= begin(one));
        else finish(one);
        one.isDone = true;
      } catch (error) {
        one.failure = { error };
        throw error;
      }
    }
    return module.results;
  }

  /** Functions that it exports are there, also for what it imports. */
  function begin(module) {
    const { name, script, awaits } = module;
    const bring = (specifier) => {
      const one = resolved(String(specifier), name);
      if (isOurs(one)) return load(sources + one);
      const found = ofNode(one);
      return found === null ? importOutside(one) : Promise.resolve(found);
    };
    module.given = awaits ? givenTo(module) : [];
    const begun = script.runInThisContext()(module.given, { url: urlOf(name) }, bring);
    if (awaits) return begun;
    module.turns = begun;
    module.results = begun.next().value;
    return null;
  }

  function finish(module) {
    module.given.push(...givenTo(module));
    Object.assign(module.results, module.turns.next().value);
  }

  function givenTo({ imports }) {
    return imports.map((one) => (isOurs(one) ? modules.get(one).results : outside.get(one)));
  }

  /** Node loads it, and gets from here what it imports of ours. */
  function leave(url) {
    if (!isLeft) {
      globalThis[loaderSymbol] = load;
      registerHooks({
        load: (one, context, next) => {
          const name = nameOf(one);
          const found = name === null ? null : find(name);
          return found === null
            ? next(one, context)
            : { format: 'module', source: standIn(sources + name, found.exports), shortCircuit: true };
        },
      });
    }
    isLeft = true;
    return import(url);
  }

  process.once('exit', keep);
  return { load, keep };
}

function isOurs(resolvedName) {
  return resolvedName[0] === '/';
}

function pathOf(name) {
  if (!name.startsWith(packageMark)) return folder + name;
  const [, of, path] = /^([^/]+)(\/.*)$/.exec(name.slice(packageMark.length));
  return `${folderOf(of) ?? folder}${path}`;
}

function urlOf(name) {
  return name.startsWith(packageMark) ? pathToFileURL(pathOf(name)).href : sources + name;
}

/** By the address that Node has for a module. null: it is none of ours. */
function nameOf(url) {
  if (isOfProgram(url)) return url.slice(sources.length);
  for (const of of packages.keys()) {
    const start = startOf(of);
    if (start !== null && url.startsWith(start)) return `${packageMark}${of}/${url.slice(start.length)}`;
  }
  return null;
}

function startOf(of) {
  if (!packageStarts.has(of)) {
    const found = folderOf(of);
    packageStarts.set(of, found === null ? null : `${pathToFileURL(realpathSync(found)).href}/`);
  }
  return packageStarts.get(of);
}

/** Where Node finds a package. null: nowhere, or it is another version, which begins elsewhere. */
function folderOf(of) {
  if (!packageFolders.has(of)) packageFolders.set(of, found(of));
  return packageFolders.get(of);
}

function found(of) {
  for (let at = folder; ; at = dirname(at)) {
    const there = join(at, 'node_modules', of);
    if (existsSync(there)) return existsSync(join(there, packages.get(of))) ? there : null;
    if (dirname(at) === at) return null;
  }
}

/** What `specifier` in the module `from` means: the name of one of ours, or what Node is asked for. */
function resolved(specifier, from) {
  if (specifier.startsWith('json:')) return `json:${new URL(specifier.slice(5), sources + from).href}`;
  if (packages.has(specifier) && folderOf(specifier) !== null)
    return `${packageMark}${specifier}/${packages.get(specifier)}`;
  if (!/^(?:\.{0,2}\/|file:)/.test(specifier)) return specifier;
  const { href } = new URL(specifier, sources + from);
  return isOfProgram(href) && /^[\w./:-]+\.[tj]s$/.test(href.slice(sources.length))
    ? href.slice(sources.length)
    : href;
}

/** null: it is none of Node's own. What they export by default is the module itself. */
function ofNode(specifier) {
  if (specifier.startsWith('late:')) {
    const name = specifier.slice('late:'.length);
    return new Proxy({}, { get: (_, key) => process.getBuiltinModule(name)[key] });
  }
  return specifier.startsWith('node:') ? (process.getBuiltinModule(specifier) ?? null) : null;
}

async function importOutside(specifier) {
  if (specifier.startsWith('json:'))
    return { default: JSON.parse(readFileSync(fileURLToPath(specifier.slice(5)), 'utf8')) };
  return import(specifier);
}

/** Whether V8 has the flags with which this process began, which name the folder: code compiled with others is of no use to the next one. */
function hasFlagsOf(file) {
  const tag = /-([\da-f]+)(?:-\d+)?[/\\]modules[/\\]/.exec(file)?.[1];
  return parseInt(tag, 16) === process.getBuiltinModule('node:v8').cachedDataVersionTag();
}

function addInOrder(module, order, seen) {
  if (module.isDone || seen.has(module)) return;
  seen.add(module);
  for (const one of module.needed) addInOrder(one, order, seen);
  order.push(module);
}

function scriptOf(name, code, compiled) {
  return new Script(code, { filename: urlOf(name), cachedData: compiled });
}

/** null: it is no code. */
function scriptOrNull(name, code) {
  try {
    return scriptOf(name, code, undefined);
  } catch {
    return null;
  }
}

/** The module for Node, with what the one of here exports. */
function standIn(url, exported) {
  const names = exported.map((name, at) => `const e${at} = exported.${name}; export { e${at} as ${name} };`);
  return `const exported = await globalThis[Symbol.for('${loaderSymbol.description}')](${JSON.stringify(url)});\n${names.join('\n')}`;
}
