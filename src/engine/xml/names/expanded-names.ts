/** The table of expanded names (namespace and local name) that tokens refer to, and what has such a name. */
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
 * The item of a name; null where none has it, and of several the last. An item is looked for when its name is first asked for: of what a
 * schema allows, documents have little.
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
