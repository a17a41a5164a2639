/** Keys that documents are merged by: the XPath of the key, and its values in a document. */
import type { PlanEdge, PlanNode, RelationalModel } from './model/relational-model.ts';
import { xmlNamespace } from './model/name-labels.ts';
import { clarkName, type QName } from './model/source-model.ts';
import { ByteBuffer } from './shred/byte-buffer.ts';
import { rangeText, sourceOf } from './shred/xml-capture.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from './xml/tokens.ts';

// Paths of `--key`: from the text of the option to names, as the model of the documents knows them.

/** An absolute path to an element, or to an attribute of it. */
export interface KeyPath {
  /** path as given */
  readonly text: string;
  readonly elements: readonly NameWanted[];
  readonly attribute: NameWanted | null;
}

/** `namespaceUri` null: any, as no prefix was given. */
interface NameWanted {
  readonly namespaceUri: string | null;
  readonly localName: string;
}

type KeyPaths = readonly KeyPath[] | { readonly fault: string };

/** Parses paths separated by commas; `fault`: description of the fault, as a continuation of the option's name. */
export function parseKeyPaths(option: string, model: RelationalModel): KeyPaths {
  const paths: KeyPath[] = [];
  // neither names nor {uri} of a step hold a comma that separates
  for (const text of option.match(/(?:\{[^}]*\}|[^,{])+/g) ?? []) {
    const parsed = parsePath(text.trim(), model);
    if ('fault' in parsed) return parsed;
    paths.push(parsed);
  }
  return paths;
}

function parsePath(text: string, model: RelationalModel): KeyPath | { readonly fault: string } {
  const steps = text.match(/(?:\{[^}]*\}|[^/{])+/g) ?? [];
  if (!text.startsWith('/') || text.startsWith('//') || text.endsWith('/') || steps.length === 0)
    return { fault: `${text} is not an absolute path, such as /order/@id or /order/header/number` };
  const elements: NameWanted[] = [];
  let attribute: NameWanted | null = null;
  for (const step of steps) {
    if (attribute !== null) return { fault: `${text}: nothing can follow an attribute` };
    const name = nameOf(step.replace(/^@/, ''), model);
    if (name === null) return { fault: `${text}: ${step} ${namingFault(step, model)}` };
    if (step.startsWith('@'))
      // an attribute without a prefix is in no namespace
      attribute = { ...name, namespaceUri: name.namespaceUri ?? '' };
    else elements.push(name);
  }
  if (elements.length === 0) return { fault: `${text}: an attribute belongs to an element` };
  const path = { text, elements, attribute };
  const known = knownPart(path, model);
  if (known !== null)
    return {
      fault: `${text}: the schema has no ${known.missing}; it has ${known.instead.join(', ') || 'nothing there'}`,
    };
  return path;
}

const nameForm = /^(?:\{([^}]*)\}|([^:{}[\]()*\s]+):)?([^:{}[\]()*@\s]+)$/;

function namingFault(step: string, { namespaces }: RelationalModel): string {
  if (nameForm.test(step.replace(/^@/, '')))
    return `does not have a prefix of the schema (${Object.keys(namespaces).join(', ')})`;
  return 'is neither the name of an element nor @ and the name of an attribute: the path of a key consists of names only';
}

function nameOf(step: string, model: RelationalModel): NameWanted | null {
  const [, uri, prefix, localName] = nameForm.exec(step) ?? [];
  if (localName === undefined) return null;
  if (prefix === undefined) return { namespaceUri: uri ?? null, localName };
  const namespaceUri = prefix === 'xml' ? xmlNamespace : model.namespaces[prefix];
  return namespaceUri === undefined ? null : { namespaceUri, localName };
}

const maxInstead = 10;

/** Returns the part of the path that the model does not have, and the names it has in that place, or null if it has the whole path. */
function knownPart(
  { elements, attribute }: KeyPath,
  model: RelationalModel,
): { readonly missing: string; readonly instead: readonly string[] } | null {
  let edges: readonly PlanEdge[] = model.roots;
  let nodes: readonly PlanNode[] = [];
  for (const wanted of elements) {
    const found = edges.filter(({ name }) => isName(name, wanted));
    if (found.length === 0)
      return { missing: `element ${labelOf(wanted)} there`, instead: namesOf(edges.map(({ name }) => name)) };
    nodes = withDerived(
      found.map(({ node }) => model.nodes[node]!),
      model,
    );
    edges = nodes.flatMap((node) => node.edges);
  }
  if (attribute === null) return null;
  const attributes = nodes.flatMap((node) => node.attributes.map(({ name }) => name));
  if (attributes.some((name) => isName(name, attribute))) return null;
  return {
    missing: `attribute ${labelOf(attribute)} there`,
    instead: namesOf(attributes).map((name) => `@${name}`),
  };
}

/** Adds the nodes that replace these if a document has `xsi:type`. */
function withDerived(nodes: readonly PlanNode[], model: RelationalModel): readonly PlanNode[] {
  const all = new Set(nodes);
  for (const node of all) for (const edge of node.typeEdges) all.add(model.nodes[edge.node]!);
  return [...all];
}

function isName({ namespaceUri, localName }: QName, wanted: NameWanted): boolean {
  return localName === wanted.localName && (wanted.namespaceUri ?? namespaceUri) === namespaceUri;
}

function labelOf({ namespaceUri, localName }: NameWanted): string {
  return clarkName({ namespaceUri: namespaceUri ?? '', localName });
}

function namesOf(names: readonly QName[]): readonly string[] {
  const all = [...new Set(names.map(({ localName }) => localName))];
  return all.length > maxInstead ? [...all.slice(0, maxInstead), `${all.length - maxInstead} more`] : all;
}

// Reads documents for their keys (`--key`), and for a digest of their content that does not depend on their position.

/** Between the values of several paths: U+001F, which no document of XML 1.0 can have in a value. */
const keySeparator = '\u001F';

/** The result of reading the key paths of a document: its key, or the path that has no value or several. */
type FoundKey = { readonly key: string } | { readonly path: string; readonly is: 'missing' | 'repeated' };

interface KeyReader {
  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  begin(inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch): void;
  end(): FoundKey;
}

/**
 * `digest`: receives names, values and text of each document, each with a mark before it. The bytes are only valid during the call. They
 * do not depend on how the tokens are divided into batches.
 */
export function createKeyReader(
  paths: readonly KeyPath[],
  names: NameTable,
  digest: ((bytes: Uint8Array) => void) | null,
): KeyReader {
  return new PathReader(paths, names, digest);
}

const marks = { start: 1, end: 2, attribute: 3, text: 4, namespace: 5 } as const;
const fullBytes = 64 * 1024;
const utf8 = new TextEncoder();

class PathReader implements KeyReader {
  readonly #paths: readonly KeyPath[];
  readonly #names: NameTable;
  readonly #digest: ((bytes: Uint8Array) => void) | null;
  readonly #out = new ByteBuffer(fullBytes);
  readonly #labels: Uint8Array[] = [];
  #depth = 0;
  #inText = false;
  /** by path: number of its elements that are open, from the root on */
  readonly #open: number[];
  readonly #values: (string | null)[];
  readonly #isRepeated: boolean[];
  /** by path to an element: its text so far; null: it is not open */
  readonly #texts: (string[] | null)[];

  constructor(paths: readonly KeyPath[], names: NameTable, digest: ((bytes: Uint8Array) => void) | null) {
    this.#paths = paths;
    this.#names = names;
    this.#digest = digest;
    this.#open = paths.map(() => 0);
    this.#values = paths.map(() => null);
    this.#isRepeated = paths.map(() => false);
    this.#texts = paths.map(() => null);
  }

  begin(inherited: ReadonlyMap<string, string> = new Map()): void {
    this.#depth = 0;
    this.#inText = false;
    this.#out.length = 0;
    this.#open.fill(0);
    this.#values.fill(null);
    this.#isRepeated.fill(false);
    this.#texts.fill(null);
    if (this.#digest === null) return;
    // the meaning of prefixes is a part of values that are names
    for (const prefix of [...inherited.keys()].toSorted())
      this.#mark(marks.namespace, utf8.encode(`${prefix}\0${inherited.get(prefix)!}\0`));
  }

  consume(batch: TokenBatch): void {
    const { events, count } = batch;
    for (let at = 0; at < count; at += 1) {
      const kind = events[at * RECORD_INTS]! & KIND_MASK;
      const nameId = events[at * RECORD_INTS + 1]!;
      if (kind !== KIND_TEXT) this.#inText = false;
      if (kind === KIND_START) this.#start(nameId);
      else if (kind === KIND_END) this.#end();
      else if (kind === KIND_ATTRIBUTE) this.#attribute(batch, at, nameId);
      else if (kind === KIND_TEXT) this.#text(batch, at);
      else if (kind === KIND_NAMESPACE && this.#digest !== null)
        this.#mark(
          marks.namespace,
          utf8.encode(`${this.#names.localName(nameId)}\0${rangeText(batch, at)}\0`),
        );
    }
  }

  end(): FoundKey {
    this.#flush();
    for (const [at, { text }] of this.#paths.entries()) {
      if (this.#isRepeated[at]!) return { path: text, is: 'repeated' };
      if ((this.#values[at] ?? '') === '') return { path: text, is: 'missing' };
    }
    return { key: this.#values.join(keySeparator) };
  }

  #start(nameId: number): void {
    const before = this.#depth;
    this.#depth += 1;
    for (let at = 0; at < this.#paths.length; at += 1) {
      const { elements, attribute } = this.#paths[at]!;
      if (this.#open[at] !== before || before >= elements.length) continue;
      const name = {
        namespaceUri: this.#names.namespaceUri(nameId),
        localName: this.#names.localName(nameId),
      };
      if (!isName(name, elements[before]!)) continue;
      this.#open[at] = this.#depth;
      if (this.#depth === elements.length && attribute === null) this.#texts[at] = [];
    }
    if (this.#digest !== null) this.#mark(marks.start, this.#label(nameId));
  }

  #end(): void {
    for (let at = 0; at < this.#paths.length; at += 1) {
      if (this.#open[at] !== this.#depth) continue;
      const text = this.#texts[at];
      if (text != null && this.#depth === this.#paths[at]!.elements.length) {
        this.#texts[at] = null;
        this.#found(at, text.join(''));
      }
      this.#open[at] = this.#depth - 1;
    }
    this.#depth -= 1;
    if (this.#digest !== null) this.#mark(marks.end, null);
  }

  #attribute(batch: TokenBatch, record: number, nameId: number): void {
    for (let at = 0; at < this.#paths.length; at += 1) {
      const { elements, attribute } = this.#paths[at]!;
      if (attribute === null || this.#depth !== elements.length || this.#open[at] !== this.#depth) continue;
      const name = {
        namespaceUri: this.#names.namespaceUri(nameId),
        localName: this.#names.localName(nameId),
      };
      if (isName(name, attribute)) this.#found(at, rangeText(batch, record));
    }
    if (this.#digest === null) return;
    this.#mark(marks.attribute, this.#label(nameId));
    this.#add(batch, record);
    this.#out.pushByte(0);
  }

  #text(batch: TokenBatch, record: number): void {
    for (let at = 0; at < this.#paths.length; at += 1)
      // text of elements inside does not belong to the value
      if (this.#texts[at] !== null && this.#open[at] === this.#depth)
        this.#texts[at]!.push(rangeText(batch, record));
    if (this.#digest === null) return;
    if (!this.#inText) this.#mark(marks.text, null);
    this.#inText = true;
    this.#add(batch, record);
  }

  #found(at: number, text: string): void {
    if (this.#values[at] !== null) this.#isRepeated[at] = true;
    this.#values[at] = text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  }

  #label(nameId: number): Uint8Array {
    return (this.#labels[nameId] ??= utf8.encode(
      `${this.#names.namespaceUri(nameId)}\0${this.#names.localName(nameId)}\0`,
    ));
  }

  #mark(mark: number, bytes: Uint8Array | null): void {
    this.#out.pushByte(mark);
    if (bytes !== null) this.#out.push(bytes, 0, bytes.length);
    if (this.#out.length >= fullBytes) this.#flush();
  }

  #add(batch: TokenBatch, record: number): void {
    this.#out.push(
      sourceOf(batch, record),
      batch.events[record * RECORD_INTS + 2]!,
      batch.events[record * RECORD_INTS + 3]!,
    );
    if (this.#out.length >= fullBytes) this.#flush();
  }

  #flush(): void {
    if (this.#out.length > 0) this.#digest?.(this.#out.bytes.subarray(0, this.#out.length));
    this.#out.length = 0;
  }
}
