/**
 * A module's source as a function that gets what it imports and returns what it exports. Everything stays in its line and column. What is
 * written in a way that is not known here is left to Node: null.
 */
import * as nodeModule from 'node:module';

/** What stands in a module's function for `import(` and `import.meta`, as long as those. */
const dynamicImport = 'bring_';
const importMeta = 'import_meta';

const head = `$imports, ${importMeta}, ${dynamicImport}`;

/** Tokens by which one tells code from what only looks like it. */
const token =
  /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|\s+|[\p{ID_Start}$_][\p{ID_Continue}$]*|\d[\w.]*|[^]/uy;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const templatePart = /(?:[^`\\$]|\\[^]|\$(?!\{))*(`|\$\{)/y;
/** Behind these a slash begins a regular expression, as behind most signs. */
const beforeOperand =
  /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await|default|extends)$/;
const operandEnd = /^(?:[\p{ID_Continue}$)\]}'"`]|\+\+|--)/u;

const name = String.raw`[\w$]+`;
const quoted = String.raw`(?<quote>['"])(?<specifier>x*)\k<quote>(?<json>\s*with\s*\{\s*type:\s*(?<mark>['"])x{4}\k<mark>,?\s*\})?\s*;?`;
const forms = {
  importing: new RegExp(
    String.raw`import\b\s*(?:(?<own>${name})\s*,?\s*)?(?:\*\s*as\s+(?<all>${name})\s*|\{(?<names>[^{}]*)\}\s*)?(?<from>from\s*)?${quoted}`,
    'dy',
  ),
  declared: new RegExp(
    String.raw`export\s+(?:const\s+(?<value>${name}|\[[\w$,\s]*\])(?=\s*=)|(?:async\s+)?function\s*\*?\s*(?<called>${name})|class\s+(?<made>${name}))`,
    'y',
  ),
  listed: new RegExp(String.raw`export\s*\{(?<names>[^{}]*)\}\s*(?:from\s*${quoted}|;?)`, 'dy'),
  all: new RegExp(String.raw`export\s*\*\s*(?:as\s+(?<all>${name})\s+)?from\s*${quoted}`, 'dy'),
  chosen: new RegExp(
    String.raw`(?<head>export\s+default)\s+(?:(?:async\s+)?function\b\s*\*?\s*|class\s+(?!extends\b))(?<own>${name})`,
    'y',
  ),
  initial: /export\s+default\s+(?!function\b|class\b|async\b|abstract\b|interface\b)/y,
};

/** What few runs need of Node itself takes long to load: where only `import NAME from` brings it, it is loaded once it is used. */
const seldomNeeded = new Set(['node:tls']);

/**
 * @param {string} source of a module in JavaScript
 * @param {boolean} mayAwait whether it has `await` outside of functions, where that is not plain to see
 * @returns {null | { code: string, awaits: boolean, imports: string[], wanted: string[][], hoisted: string[], exports: string[] }}
 *   `code`: of an expression, a generator that yields the functions that it exports before its first line, and returns all that it exports,
 *   or where it `awaits` an async function; `imports`: specifiers, in the order of its first argument; `wanted`: names that are imported of
 *   each; `hoisted`: of the functions that are yielded
 */
export function rewrite(source, mayAwait = false) {
  const read = readTokens(source);
  if (read === null) return null;
  const { bare, mask, statements, edits } = read;
  const awaits = mayAwait || read.awaits;
  const imports = [];
  const exported = new Map();
  const hoisted = [];
  const wanted = [];
  const importOf = ({ groups, indices }) => {
    let specifier = source.slice(...indices.groups.specifier);
    if (specifier.includes('\\')) return null;
    if (nodeModule.isBuiltin(specifier)) specifier = `node:${specifier.replace(/^node:/, '')}`;
    const isBuiltin = specifier.startsWith('node:');
    const isWhole = groups.own !== undefined && groups.all === undefined && groups.names === undefined;
    if (isWhole && seldomNeeded.has(specifier)) specifier = `late:${specifier}`;
    if (groups.json !== undefined) specifier = `json:${specifier}`;
    let at = imports.indexOf(specifier);
    if (at < 0) {
      at = imports.push(specifier) - 1;
      wanted.push([]);
    }
    return { at, isBuiltin, groups };
  };
  for (const at of statements) {
    const [kind, found] = matchForm(mask, at);
    if (found === null) return null;
    const end = at + found[0].length;
    const { groups } = found;
    const whole = (text) => edits.push([at, end, text]);
    if (kind === 'importing') {
      const hasNames = (groups.own ?? groups.all ?? groups.names) !== undefined;
      if (hasNames !== (groups.from !== undefined)) return null;
      const imported = importOf(found);
      if (imported === null) return null;
      const text = importText(source.slice(at, end), imported);
      if (text === null) return null;
      if (groups.own !== undefined) wanted[imported.at].push('default');
      for (const [from] of pairsOf(groups.names ?? '')) wanted[imported.at].push(from);
      whole(text);
    } else if (kind === 'declared') {
      const declared = groups.value ?? groups.called ?? groups.made;
      if (groups.value !== undefined && declaresMore(at, read)) return null;
      for (const one of declared.match(/[\w$]+/g)) exported.set(one, one);
      if (groups.called !== undefined) hoisted.push(groups.called);
      edits.push([at, at + 6, '']);
    } else if (kind === 'chosen') {
      exported.set('default', groups.own);
      edits.push([at, at + groups.head.length, '']);
    } else if (kind === 'initial') {
      exported.set('default', 'default_');
      whole('const default_ =');
    } else if (kind === 'listed') {
      const pairs = pairsOf(groups.names);
      if (pairs === null) return null;
      const imported = groups.quote === undefined ? null : importOf(found);
      if (imported !== null) wanted[imported.at].push(...pairs.map(([from]) => from));
      for (const [from, to] of pairs)
        exported.set(to, imported === null ? from : `$imports[${imported.at}].${from}`);
      whole('');
    } else {
      // what it exports is known only with what it names
      if (groups.all === undefined) return null;
      exported.set(groups.all, `$imports[${importOf(found).at}]`);
      whole('');
    }
  }
  const body = applied(bare, mask, edits);
  const results = [...exported].map(([to, from]) => `${to}: ${from}`).join(', ');
  const first = awaits ? '' : `yield { ${hoisted.join(', ')} };`;
  const kind = awaits ? 'async function' : 'function*';
  const code = `(${kind} (${head}) {'use strict';${first}${body}\nreturn { ${results} };\n})`;
  return { code, awaits, imports, wanted, hoisted, exports: [...exported.keys()] };
}

/** The types of a source taken out of it: spaces in their places. */
export function withoutTypes(source) {
  // without the warning that this way of calling it is young: Node itself strips types by it
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return nodeModule.stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * `bare`: the source with spaces for comments; `mask`: the same with `x` for what is in literals; `statements`: where imports and exports
 * begin; `commas`, `ends`: where those and semicolons are that are outside of all brackets. All of one length. null: not understood.
 */
function readTokens(source) {
  const bare = [];
  const mask = [];
  const statements = [];
  const edits = [];
  const commas = [];
  const ends = [];
  /** of brackets that are open; `${` for those of a template */
  const open = [];
  let awaits = false;
  let last = '';
  let at = 0;
  const put = (text, masked) => {
    bare.push(text);
    mask.push(masked);
    at += text.length;
  };
  const literal = (text) => put(text, text[0] + 'x'.repeat(Math.max(0, text.length - 2)) + text.at(-1));
  const template = (from) => {
    templatePart.lastIndex = from;
    const part = templatePart.exec(source);
    if (part === null) return false;
    const text = source.slice(at, templatePart.lastIndex);
    put(text, 'x'.repeat(text.length));
    if (part[1] === '${') open.push('${');
    last = '`';
    return true;
  };
  while (at < source.length) {
    token.lastIndex = at;
    const [text] = token.exec(source);
    if (text.startsWith('//') || text.startsWith('/*')) {
      const blank = text.replace(/[^\n]/g, ' ');
      put(blank, blank);
      continue;
    }
    if (/^\s/.test(text)) {
      put(text, text);
      continue;
    }
    if (text === '`') {
      if (!template(at + 1)) return null;
      continue;
    }
    if (text === '}' && open.at(-1) === '${') {
      open.pop();
      if (!template(at + 1)) return null;
      continue;
    }
    if (text === '/' && (!operandEnd.test(last) || beforeOperand.test(last))) {
      regex.lastIndex = at;
      const found = regex.exec(source);
      if (found === null) return null;
      literal(found[0]);
      last = ')';
      continue;
    }
    if (text.length > 1 && (text[0] === "'" || text[0] === '"')) {
      literal(text);
      last = text[0];
      continue;
    }
    if ('([{'.includes(text)) open.push(text);
    else if (')]}'.includes(text)) {
      if (open.pop() !== { ')': '(', ']': '[', '}': '{' }[text]) return null;
    } else if (text === ',' && open.length === 0) commas.push(at);
    else if (text === ';' && open.length === 0) ends.push(at);
    else if (text === 'await' && open.length === 0) awaits = true;
    else if ((text === 'import' || text === 'export') && last !== '.' && last !== '#') {
      const next = /^\s*(?:\(|(\.\s*meta\b))?/.exec(source.slice(at + text.length, at + 100));
      if (
        text === 'import' &&
        next[1] !== undefined &&
        !source.startsWith('.url', at + text.length + next[0].length)
      )
        return null;
      if (text === 'import' && next[1] !== undefined)
        edits.push([at, at + text.length + next[0].length, importMeta]);
      else if (text === 'import' && next[0].endsWith('(')) edits.push([at, at + text.length, dynamicImport]);
      else if (open.length === 0) statements.push(at);
    }
    put(text, text);
    last = text;
  }
  return open.length === 0
    ? { bare: bare.join(''), mask: mask.join(''), statements, edits, awaits, commas, ends }
    : null;
}

/** Whether the declaration has further names, which might be overlooked. */
function declaresMore(at, { commas, ends }) {
  const end = ends.find((one) => one > at) ?? Infinity;
  return commas.some((one) => one > at && one < end);
}

function matchForm(mask, at) {
  for (const [kind, form] of Object.entries(forms)) {
    form.lastIndex = at;
    const found = form.exec(mask);
    if (found !== null) return [kind, found];
  }
  return [null, null];
}

/** Of `a, b as c`; null: something else. */
function pairsOf(names) {
  const pairs = names
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => /^([\w$]+)(?:\s+as\s+([\w$]+))?$/.exec(one));
  return pairs.includes(null) ? null : pairs.map(([, from, to]) => [from, to ?? from]);
}

/** Declarations in the place of an import: none is changed by who exports it, so a copy is as good. */
function importText(statement, { at, isBuiltin, groups: { own, all, names } }) {
  const module = `$imports[${at}]`;
  const initial = isBuiltin ? module : `${module}.default`;
  const parts = [];
  if (own !== undefined) parts.push(`${own} = ${initial}`);
  if (all !== undefined) parts.push(`${all} = ${module}`);
  if (names !== undefined) {
    if (pairsOf(names) === null) return null;
    const from = statement.indexOf('{');
    const list = statement.slice(from, statement.indexOf('}') + 1).replace(/\bas\b/g, ': ');
    parts.push(`${own === undefined ? ' ' : ''}${list} = ${module}`);
  }
  return parts.length === 0 ? '' : `const ${parts.join(', ')};`;
}

/** With spaces behind what is shorter, and without those that end lines. */
function applied(bare, mask, edits) {
  const texts = [bare, mask].map((text, isMask) => {
    let result = '';
    let from = 0;
    for (const [start, end, put] of edits.toSorted((a, b) => a[0] - b[0])) {
      const lines = text.slice(start, end).split('\n').length - put.split('\n').length;
      const padding = ' '.repeat(Math.max(0, end - start - put.length));
      result += text.slice(from, start) + (isMask === 1 ? put.replace(/\S/g, 'x') : put);
      result += lines > 0 ? '\n'.repeat(lines) : padding;
      from = end;
    }
    return result + text.slice(from);
  });
  let at = 0;
  return texts[1]
    .split('\n')
    .map((line) => {
      const kept = texts[0].slice(at, at + line.trimEnd().length);
      at += line.length + 1;
      return kept;
    })
    .join('\n');
}
