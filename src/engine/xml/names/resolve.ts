/** Resolves raw names to expanded names in a namespace context. */
import { MAX_NAMESPACES_IN_FORCE, XMLNS_NAMESPACE, XML_NAMESPACE } from './namespace-contexts.ts';
import { checkNameCount } from './count-limits.ts';
import { NAME_DECLARATION, NAME_PREFIXED } from './interned.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { FLAG_DECODED, KIND_MASK, KIND_NAMESPACE, RECORD_INTS } from '../tokens.ts';

/** While a start tag is scanned, records of prefixed names and declarations carry their raw name id and one of these marks. */
const MARK_SHIFT = 8;
const MARKS = 3 << MARK_SHIFT;

/** Remembered names in contexts, at most; beyond it they are resolved anew. */
const MAX_RESOLVED = 100_000;

export function unresolved(nameKind: number): number {
  return nameKind << MARK_SHIFT;
}

/** Expanded name id of an element, or of a prefixed attribute, in a namespace context. */
export function resolveElement(s: TokenizerState, name: number, context: number, at: number): number {
  const { raw } = s;
  const last = raw.elementContexts[name]!;
  if (last === context) return raw.elementNames[name]!;
  const key = context * 0x4000000 + name;
  let id = last < 0 ? undefined : s.resolved.get(key);
  if (id === undefined) {
    id = s.settings.names.intern(namespaceOf(s, name, context, at), raw.locals[name]!);
    // The first context needs no entry: most names only ever have one.
    if (last >= 0) remember(s, key, id);
  }
  raw.elementContexts[name] = context;
  raw.elementNames[name] = id;
  return id;
}

function remember(s: TokenizerState, key: number, id: number): void {
  if (s.resolved.size >= MAX_RESOLVED) s.resolved.clear();
  s.resolved.set(key, id);
}

function namespaceOf(s: TokenizerState, name: number, context: number, at: number): string {
  const { raw } = s;
  const prefix = raw.prefixes[name]!;
  if (raw.kinds[name] === NAME_DECLARATION && prefix !== 0)
    s.fail(at, 'xml_reserved_prefix', 'an element must not have the prefix "xmlns"');
  const uri = s.contexts.lookup(context, prefix);
  if (uri < 0)
    s.fail(
      at,
      'xml_undeclared_prefix',
      `the namespace prefix "${raw.locals[prefix]}" of "${raw.interner.text(name)}" is not declared`,
    );
  return s.contexts.uriText(uri);
}

/** Expanded name id of an attribute without a prefix: it is in no namespace. */
export function nameAttribute(s: TokenizerState, name: number): number {
  const id = s.settings.names.intern('', s.raw.locals[name]!);
  s.raw.attributeNames[name] = id;
  return id;
}

/**
 * Finishes the records from `first` on of a start tag with namespace declarations or prefixed attributes: puts declarations in
 * force, resolves names, checks that no expanded name occurs twice, and moves NAMESPACE records to the front.
 */
export function resolveAttributes(s: TokenizerState, first: number, kinds: number, at: number): void {
  if ((kinds & NAME_DECLARATION) !== 0) declareNamespaces(s, first, at);
  if ((kinds & NAME_PREFIXED) !== 0) resolvePrefixed(s, first, at);
}

function resolvePrefixed(s: TokenizerState, first: number, at: number): void {
  const { events, count, context, serial } = s;
  for (let n = first; n < count; n += RECORD_INTS) {
    if ((events[n]! & MARKS) !== NAME_PREFIXED << MARK_SHIFT) continue;
    const name = events[n + 1]!;
    const id = resolveElement(s, name, context, at);
    while (id >= s.expandedSeenIn.length) s.growExpanded();
    if (s.expandedSeenIn[id] === serial) {
      const uri = s.settings.names.namespaceUri(id);
      s.fail(
        at,
        'xml_duplicate_attribute',
        `the attribute "${s.raw.locals[name]}" of the namespace "${uri}" occurs twice in one tag`,
      );
    }
    s.expandedSeenIn[id] = serial;
    events[n] = events[n]! & ~MARKS;
    events[n + 1] = id;
  }
}

function declareNamespaces(s: TokenizerState, first: number, at: number): void {
  const { events, count } = s;
  const others: number[] = [];
  let front = first;
  for (let n = first; n < count; n += RECORD_INTS) {
    const kind = events[n]!;
    const source = s.sources[n / RECORD_INTS]!;
    if ((kind & MARKS) !== NAME_DECLARATION << MARK_SHIFT) {
      others.push(kind, events[n + 1]!, events[n + 2]!, events[n + 3]!, source);
      continue;
    }
    const prefix = s.raw.prefixes[events[n + 1]!]!;
    const start = events[n + 2]!;
    const end = events[n + 3]!;
    declare(s, prefix, (kind & FLAG_DECODED) === 0 ? s.bytes : s.decoded, start, end, at);
    events[front] = (kind & ~MARKS & ~KIND_MASK) | KIND_NAMESPACE;
    events[front + 1] = s.settings.names.intern('', s.raw.locals[prefix]!);
    events[front + 2] = start;
    events[front + 3] = end;
    s.sources[front / RECORD_INTS] = source;
    front += RECORD_INTS;
  }
  for (let i = 0; i < others.length; i += 5) {
    events.set(others.slice(i, i + 4), front);
    s.sources[front / RECORD_INTS] = others[i + 4]!;
    front += RECORD_INTS;
  }
}

/** Binds a prefix after checking the constraints of Namespaces in XML 1.0 §3. */
function declare(
  s: TokenizerState,
  prefix: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  at: number,
): void {
  const uri = s.contexts.internUri(bytes, start, end);
  const text = s.contexts.uriText(uri);
  const name = s.raw.locals[prefix]!;
  const code = 'xml_bad_namespace_declaration';
  if (name === 'xmlns') s.fail(at, code, 'the prefix "xmlns" must not be declared');
  if (prefix !== 0 && uri === 0)
    s.fail(
      at,
      code,
      s.isVersion11
        ? `the prefix "${name}" is undeclared, as Namespaces in XML 1.1 allows; documents of XML 1.1 are read, but not such declarations: remove it`
        : `the prefix "${name}" is declared with an empty namespace name: only the default namespace can be undeclared`,
    );
  if (text === XMLNS_NAMESPACE) s.fail(at, code, `no prefix may be bound to "${XMLNS_NAMESPACE}"`);
  if ((name === 'xml') !== (text === XML_NAMESPACE))
    s.fail(
      at,
      code,
      `the prefix "xml" and the namespace "${XML_NAMESPACE}" belong to each other and to nothing else`,
    );
  s.context = s.contexts.declare(s.context, prefix, uri);
  checkNameCount(s, at);
  if (s.contexts.depth(s.context) > MAX_NAMESPACES_IN_FORCE)
    s.fail(
      at,
      'xml_name_count_limit',
      `more than ${MAX_NAMESPACES_IN_FORCE} namespace declarations are in force`,
    );
}
