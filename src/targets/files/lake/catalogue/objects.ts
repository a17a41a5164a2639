/**
 * Objects of a catalogue's tables, each below the location that the catalogue gave its table, by keys that begin with the name of the table. What is
 * of no table (locks, steps, notes) lies hidden below the location of `_loads`.
 */
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import { manifestName } from '../../place/journal.ts';
import type { DecidingStore } from '../../../../ports/files/objects.ts';

/** Where the objects of a table lie. */
export interface TableStore {
  readonly objects: DecidingStore;
  /** before every key, ending in '/' */
  readonly prefix: string;
}

/** hidden, as programs that sweep folders of tables take it */
const hidden = '.svc/';

/** `storeOf`: null where there is no such table. `label`: the target, for people. */
export function createTableObjects(
  label: string,
  storeOf: (table: string) => Promise<TableStore | null>,
): DecidingStore {
  interface At extends TableStore {
    /** of the store */
    readonly key: string;
    /** what a key of ours begins with where one of the store begins with `prefix` */
    readonly ours: string;
  }

  const at = async (key: string): Promise<At | null> => {
    const slash = key.indexOf('/');
    const table = isOfNone(key) ? sideTableNames.loads : slash < 0 ? key : key.slice(0, slash);
    const store = await storeOf(table);
    if (store === null) return null;
    if (isOfNone(key)) {
      const prefix = store.prefix + hidden;
      return { objects: store.objects, prefix, key: prefix + key, ours: '' };
    }
    const rest = slash < 0 ? '' : key.slice(slash + 1);
    return { ...store, key: store.prefix + rest, ours: `${table}/` };
  };

  const present = async (key: string): Promise<At> => {
    const found = await at(key);
    if (found !== null) return found;
    if (isOfNone(key)) throw new AppError('not_found', `${label}: no documents were loaded there.`);
    throw new AppError('conflict', `${label}: the catalogue has no table for ${key}`);
  };

  return {
    async createObject(key, bytes) {
      const found = await present(key);
      return found.objects.createObject(found.key, bytes);
    },
    async head(key) {
      const found = await at(key);
      const object = (await found?.objects.head(found.key)) ?? null;
      return object === null ? null : { ...object, key };
    },
    async read(key, range) {
      const found = await at(key);
      return (await found?.objects.read(found.key, range)) ?? null;
    },
    async write(key, body, maxBytes) {
      const found = await present(key);
      return found.objects.write(found.key, body, maxBytes);
    },
    async removeObject(key) {
      const found = await at(key);
      await found?.objects.removeObject(found.key);
    },
    async *listObjects(prefix) {
      const found = await at(prefix);
      if (found === null) return;
      for await (const object of found.objects.listObjects(found.key))
        yield { ...object, key: found.ours + object.key.slice(found.prefix.length) };
    },
  };
}

function isOfNone(key: string): boolean {
  return key.startsWith('.') || key === manifestName;
}
