/** What the prefixes in the content of a document stand for, and the white space that its elements hold. */
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import { NamespaceScope } from '../../../src/engine/shred/namespace-scope.ts';
import { rangeText } from '../../../src/engine/shred/xml-capture.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
} from '../../../src/engine/xml/tokens.ts';
import { bytesOf } from '../models/shredding.ts';

/** Each attribute and run of text in document order, with its path and, behind it, the URIs of the prefixes in it. */
export function contentMeanings(document: string | Uint8Array): string[] {
  const names = createNameTable();
  const scope = new NamespaceScope();
  const path: string[] = [];
  const sizes: number[] = [];
  const found: string[] = [];
  let attributes: [string, string][] = [];
  let text = '';
  const meaning = (value: string): string => {
    const prefixes = [
      ...value.matchAll(/([A-Za-z_\u0080-\uffff][\w.\u0080-\uffff-]*):(?=[\w*\u0080-\uffff])/g),
    ];
    const uris = prefixes.map(([, prefix]) => `${prefix}=${scope.uriOf(prefix!) ?? ''}`);
    return `${JSON.stringify(value)} ${uris.join(' ')}`.trim();
  };
  const tell = (): void => {
    for (const [name, value] of attributes.toSorted())
      found.push(`/${path.join('/')}/@${name} ${meaning(value)}`);
    attributes = [];
    if (text !== '') found.push(`/${path.join('/')} ${meaning(text)}`);
    text = '';
  };
  const nameOf = (id: number): string => {
    const uri = names.namespaceUri(id);
    return uri === '' ? names.localName(id) : `{${uri}}${names.localName(id)}`;
  };
  const tokenizer = createXmlTokenizer({
    names,
    onBatch(batch) {
      for (let at = 0; at < batch.count; at += 1) {
        const kind = batch.events[at * RECORD_INTS]! & KIND_MASK;
        const id = batch.events[at * RECORD_INTS + 1]!;
        if (kind === KIND_TEXT) {
          if (text === '') tell();
          text += rangeText(batch, at);
          continue;
        }
        if (kind === KIND_START) {
          tell();
          path.push(nameOf(id));
          sizes.push(scope.size);
        } else if (kind === KIND_NAMESPACE) scope.declare(names.localName(id), rangeText(batch, at));
        else if (kind === KIND_ATTRIBUTE) attributes.push([nameOf(id), rangeText(batch, at)]);
        else if (kind === KIND_END) {
          tell();
          path.pop();
          scope.leave(sizes.pop()!);
        }
      }
    },
  });
  tokenizer.write(bytesOf(document));
  tokenizer.end();
  return found;
}
