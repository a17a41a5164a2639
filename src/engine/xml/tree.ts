/** A small document as a tree of elements. */
import { atOnce, type Steps } from '../in-slices.ts';
import type { EngineLimits } from '../limits.ts';
import type { QName } from '../model/source-model.ts';
import { XML_NAMESPACE } from './names/namespace-contexts.ts';
import { readBatchText } from './kernel/tape.ts';
import { createXmlTokenizer } from './tokenizer/portable.ts';
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
} from './tokens.ts';

export interface XmlAttribute {
  readonly name: QName;
  readonly value: string;
}

/** An element of a small document that is read whole. Comments and processing instructions are left out. */
export interface XmlElement {
  readonly name: QName;
  /** in document order, without namespace declarations */
  readonly attributes: readonly XmlAttribute[];
  /** in document order; adjacent text is one string */
  readonly children: readonly (XmlElement | string)[];
  /** prefix -> URI in scope, '' for the default namespace; the parent's map if nothing is declared */
  readonly namespaces: ReadonlyMap<string, string>;
  /** place of the start tag; from 1 */
  readonly line: number;
  /** from 1, in characters */
  readonly column: number;
}

export interface XmlTreeOptions {
  readonly fileName?: string;
  readonly limits?: EngineLimits;
  /** encoding known from outside the document */
  readonly encoding?: string;
}

const stepBytes = 64 * 1024;

interface OpenElement {
  name: QName;
  attributes: XmlAttribute[];
  children: (XmlElement | string)[];
  namespaces: Map<string, string>;
  line: number;
  column: number;
}

/** Reads a whole document into a tree. Throws `InputError` with the place when it is not well-formed. */
export function parseXmlTree(bytes: Uint8Array, options: XmlTreeOptions = {}): XmlElement {
  return atOnce(xmlTreeSteps(bytes, options));
}

/** Like `parseXmlTree`, in steps: one for each piece of the bytes. */
export function* xmlTreeSteps(bytes: Uint8Array, options: XmlTreeOptions = {}): Steps<XmlElement> {
  const builder = createTreeBuilder();
  const tokenizer = createXmlTokenizer({
    ...options,
    onBatch(batch) {
      for (let record = 0; record < batch.count; record++) {
        const kind = batch.events[record * RECORD_INTS]! & KIND_MASK;
        if (kind === KIND_START) {
          const { line, column } = tokenizer.locate(record);
          builder.start(tokenizer.names, batch.events[record * RECORD_INTS + 1]!, line, column);
        } else {
          builder.take(tokenizer.names, batch, record, kind);
        }
      }
    },
  });
  for (let from = 0; from < bytes.length; from += stepBytes) {
    tokenizer.write(bytes.subarray(from, from + stepBytes));
    yield;
  }
  tokenizer.end();
  return builder.root();
}

function createTreeBuilder() {
  const qNames: QName[] = [];
  const open: OpenElement[] = [];
  const noElement: OpenElement = {
    name: { namespaceUri: '', localName: '' },
    attributes: [],
    children: [],
    namespaces: new Map([['xml', XML_NAMESPACE]]),
    line: 0,
    column: 0,
  };
  let current = noElement;
  let text = '';

  function qName(names: NameTable, id: number): QName {
    return (qNames[id] ??= { namespaceUri: names.namespaceUri(id), localName: names.localName(id) });
  }

  function endText(): void {
    if (text !== '') current.children.push(text);
    text = '';
  }

  return {
    start(names: NameTable, nameId: number, line: number, column: number): void {
      endText();
      const element = {
        name: qName(names, nameId),
        attributes: [],
        children: [],
        namespaces: current.namespaces,
        line,
        column,
      };
      current.children.push(element);
      open.push(current);
      current = element;
    },
    take(names: NameTable, batch: TokenBatch, record: number, kind: number): void {
      const nameId = batch.events[record * RECORD_INTS + 1]!;
      if (kind === KIND_TEXT) {
        text += readBatchText(batch, record);
      } else if (kind === KIND_END) {
        endText();
        current = open.pop()!;
      } else if (kind === KIND_ATTRIBUTE) {
        current.attributes.push({ name: qName(names, nameId), value: readBatchText(batch, record) });
      } else if (kind === KIND_NAMESPACE) {
        if (current.namespaces === open.at(-1)!.namespaces) current.namespaces = new Map(current.namespaces);
        declare(current.namespaces, names.localName(nameId), readBatchText(batch, record));
      }
    },
    root: (): XmlElement => noElement.children[0] as XmlElement,
  };
}

/** An empty URI removes the default namespace from the scope. */
function declare(namespaces: Map<string, string>, prefix: string, uri: string): void {
  if (uri === '') namespaces.delete(prefix);
  else namespaces.set(prefix, uri);
}
