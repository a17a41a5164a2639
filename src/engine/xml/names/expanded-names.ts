/** The table of expanded names (namespace and local name) that tokens refer to. */
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

function nameAt(parts: readonly string[], id: number): string {
  const part = parts[id];
  if (part === undefined) throw new RangeError(`no name has the id ${id}`);
  return part;
}
