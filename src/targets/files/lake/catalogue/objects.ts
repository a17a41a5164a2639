/**
 * The objects of a catalogue's tables. Keys begin with the name of the table, and each table is below the location that the catalogue gave
 * it. Objects of no table (locks, steps, notes) are in a hidden folder below the location of `_loads`. The access data that a catalogue
 * gives for the files of a table are "vended credentials".
 */
import type { LoadedTable } from './rest.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import { manifestName } from '../../place/journal.ts';
import type { DecidingStore } from '../../../../ports/files.ts';

/** The access to an S3-compatible store that a catalogue vends. */
interface VendedAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface Vended {
  readonly access: VendedAccess;
  /** epoch milliseconds; Infinity if the catalogue does not give it */
  readonly until: number;
}

/** Returns null if the response has no access data for an S3-compatible store. */
export function vendedFor(location: string, { config, credentials }: LoadedTable): Vended | null {
  const own = credentials
    .filter(({ prefix }) => location.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
  const told: Readonly<Record<string, string | undefined>> = { ...config, ...own?.config };
  const { 's3.access-key-id': accessKeyId, 's3.secret-access-key': secretAccessKey } = told;
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  const region = told['client.region'] ?? told['s3.region'] ?? 'us-east-1';
  const sessionToken = told['s3.session-token'];
  const until = Number(told['s3.session-token-expires-at-ms'] ?? Infinity);
  return {
    access: {
      endpoint: told['s3.endpoint'] ?? `https://s3.${region}.amazonaws.com`,
      region,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    },
    until: Number.isFinite(until) ? until : Infinity,
  };
}

/** The store and the prefix of the objects of a table. */
export interface TableStore {
  readonly objects: DecidingStore;
  /** the start of every key, ending in '/' */
  readonly prefix: string;
}

/** a hidden name, which programs that clean up folders of tables ignore */
const hidden = '.svc/';

/** `storeOf`: returns null if there is no such table. `label`: the target, for people. */
export function createTableObjects(
  label: string,
  storeOf: (table: string) => Promise<TableStore | null>,
): DecidingStore {
  interface At extends TableStore {
    /** the key in the store */
    readonly key: string;
    /** the prefix of our keys that corresponds to `prefix` in the store */
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
