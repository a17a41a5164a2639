/**
 * Elements that xsi:type gives a type of their own, in statistics of their own. The collector counts documents a second time, with
 * another name for such an element: its local name, a space, and the expanded name of the type. No local name has a space.
 */
import { xsiNamespace } from '../model/name-labels.ts';
import { clarkName, type QName } from '../model/source-model.ts';
import { NamespaceScope } from '../shred/values/namespace-scope.ts';
import { rangeText } from '../shred/xml-capture.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../xml/tokens.ts';

export interface NameByType {
  /** the element's own name */
  readonly name: QName;
  /** expanded name of the type that xsi:type names; null: the declared type, or one that is not counted by itself */
  readonly type: string | null;
}

/** Parses the name that an element has in statistics by type. */
export function nameByType({ namespaceUri, localName }: QName): NameByType {
  const space = localName.indexOf(' ');
  if (space < 0) return { name: { namespaceUri, localName }, type: null };
  return {
    name: { namespaceUri, localName: localName.slice(0, space) },
    type: localName.slice(space + 1),
  };
}

/** Renames elements in the batches of a document by their xsi:type. */
export class ElementsByType {
  /** some element has been renamed */
  hasRenamed = false;
  readonly #names: NameTable;
  readonly #types: ReadonlySet<string>;
  readonly #xsiType: number;
  readonly #scope = new NamespaceScope();
  /** sizes of the scope around the open elements, outermost first */
  readonly #sizes: number[] = [];

  /** `types`: expanded names of the types whose elements are counted separately */
  constructor(names: NameTable, types: ReadonlySet<string>) {
    this.#names = names;
    this.#types = types;
    this.#xsiType = names.intern(xsiNamespace, 'type');
  }

  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  beginDocument(inherited?: ReadonlyMap<string, string>): void {
    this.#sizes.length = 0;
    this.#scope.leave(0);
    for (const [prefix, uri] of inherited ?? []) this.#scope.declare(prefix, uri);
  }

  /** Returns the batch itself if no element of it is renamed. */
  rename(batch: TokenBatch): TokenBatch {
    const { events, count } = batch;
    let renamed: Int32Array | null = null;
    let start = 0;
    for (let record = 0; record < count; record += 1) {
      const at = record * RECORD_INTS;
      switch (events[at]! & KIND_MASK) {
        case KIND_START:
          this.#sizes.push(this.#scope.size);
          start = at;
          break;
        case KIND_END:
          this.#scope.leave(this.#sizes.pop() ?? 0);
          break;
        case KIND_NAMESPACE:
          this.#scope.declare(this.#names.localName(events[at + 1]!), rangeText(batch, record));
          break;
        case KIND_ATTRIBUTE: {
          if (events[at + 1] !== this.#xsiType) break;
          const nameId = this.#renamed(events[start + 1]!, rangeText(batch, record));
          if (nameId < 0) break;
          renamed ??= events.slice(0, count * RECORD_INTS);
          renamed[start + 1] = nameId;
          break;
        }
      }
    }
    if (renamed === null) return batch;
    this.hasRenamed = true;
    return { ...batch, events: renamed };
  }

  /** -1: the type is not counted by itself. */
  #renamed(nameId: number, written: string): number {
    const type = this.#scope.resolve(written.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
    if (type === null || !this.#types.has(clarkName(type))) return -1;
    const localName = `${this.#names.localName(nameId)} ${clarkName(type)}`;
    return this.#names.intern(this.#names.namespaceUri(nameId), localName);
  }
}
