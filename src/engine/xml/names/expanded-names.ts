/** The table of expanded names (namespace and local name) that tokens refer to, and look-ups by such names. */
import type { QName } from '../../model/source-model.ts';
import type { NameTable } from '../tokens.ts';
import { longNameLength } from './byte-interner.ts';

/** An empty table of expanded names; may serve any number of tokenizers. */
export function createNameTable(): NameTable {
  const uris: string[] = [];
  const locals: string[] = [];
  let longNames = 0;
  const idsByUri = new Map<string, Map<string, number>>();
  return {
    get size() {
      return uris.length;
    },
    get longNames() {
      return longNames;
    },
    namespaceUri: (id) => nameAt(uris, id),
    localName: (id) => nameAt(locals, id),
    intern(namespaceUri, localName) {
      let ids = idsByUri.get(namespaceUri);
      if (ids === undefined) {
        ids = new Map();
        idsByUri.set(namespaceUri, ids);
        if (namespaceUri.length > longNameLength) longNames += 1;
      }
      let id = ids.get(localName);
      if (id === undefined) {
        id = uris.length;
        ids.set(localName, id);
        uris.push(namespaceUri);
        locals.push(localName);
        if (localName.length > longNameLength) longNames += 1;
      }
      return id;
    },
  };
}

/**
 * Returns a function that gives the item of a name: null if none has the name, the last one if several do. The items of a name are
 * searched on its first use, because documents use few of the names in a schema.
 */
export function itemByName<T extends { readonly name: QName }>(
  names: NameTable,
  items: readonly T[],
): (nameId: number) => T | null {
  const met = new Map<number, T | null>();
  return (nameId) => {
    let item = met.get(nameId);
    if (item === undefined) {
      const namespaceUri = names.namespaceUri(nameId);
      const localName = names.localName(nameId);
      item =
        items.findLast(({ name }) => name.localName === localName && name.namespaceUri === namespaceUri) ??
        null;
      met.set(nameId, item);
    }
    return item;
  };
}

function nameAt(parts: readonly string[], id: number): string {
  const part = parts[id];
  if (part === undefined) throw new RangeError(`no name has the id ${id}`);
  return part;
}
