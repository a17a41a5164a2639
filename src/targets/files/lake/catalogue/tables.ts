/**
 * Tables in a namespace of a catalogue. If the catalogue did not report the outcome of a change, the table is read again: a version is
 * identified by its snapshot, which names installation and job.
 */
import {
  type LoadedTable,
  isLost,
  isMoved,
  isTaken,
  requirementsOf,
  updatesOf,
  type CommitOutcome,
  type RestCatalogue,
  type TableUpdate,
  createRestCatalogue,
  type CatalogueNamespace,
  type CatalogueLogin,
  createCatalogueRequests,
  type CatalogueTransport,
} from './rest.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { AppError } from '../../../../errors.ts';
import { manifestName, eachAtOnce } from '../../place/journal.ts';
import type { DecidingStore } from '../../../../ports/files.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { newTable } from '../iceberg/table.ts';
import { checkedMetadata, isOfAttempt, isUnused } from '../iceberg/metadata.ts';
import type { TableMetadata } from '../iceberg/shape.ts';
import type { NewTable, NextTableVersion, TableCatalogue, TableHolder } from '../table-format.ts';
import { storedType } from '../iceberg/types.ts';
import { sideColumns } from '../loads-table.ts';
import type { LakeTarget } from '../place.ts';
import { bucketLake } from '../bucket.ts';

// The objects of a catalogue's tables. Keys begin with the name of the table, and each table is below the location that the catalogue gave
// it. Objects of no table (locks, steps, notes) are in a hidden folder below the location of `_loads`. "Vended credentials" are the access
// data that a catalogue gives for the files of a table.

/** The access to an S3-compatible store that a catalogue vends. */
interface VendedAccess {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface Vended {
  readonly access: VendedAccess;
  /** epoch milliseconds; Infinity if the catalogue does not give it */
  readonly until: number;
}

/** Returns null if the response has no access data for an S3-compatible store. */
function vendedFor(location: string, { config, credentials }: LoadedTable): Vended | null {
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
interface TableStore {
  readonly objects: DecidingStore;
  /** the start of every key, ending in '/' */
  readonly prefix: string;
}

/** a hidden name, which programs that clean up folders of tables ignore */
const hidden = '.svc/';

/** `storeOf`: returns null if there is no such table. `label`: the target, for people. */
function createTableObjects(
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

// The tables.

/** Opens the store of a table's folder, by its address. AppErrors if jobs may not or cannot write there. */
export type OpenTableStore = (location: string, vended: Vended['access'] | null) => Promise<TableStore>;

const commitTries = 6;
const firstPauseMs = 100;
const maxVain = 5;
/** vended access to a store is no longer used this long before it expires */
const marginMs = 120_000;
/** used if the catalogue gives no expiry */
const usualMs = 20 * 60_000;

class CatalogueTables implements TableCatalogue {
  readonly #rest: RestCatalogue;
  readonly #label: string;
  readonly #open: OpenTableStore;
  readonly #stores = new Map<string, { readonly store: Promise<TableStore>; readonly until: number }>();
  readonly #locations = new Map<string, string>();
  /** versions that wait for one another; null: each is committed on its own */
  #waiting: NextTableVersion[] | null = null;
  #isTogether: boolean | null = null;
  /** versions that were rejected only because of other tables, by table */
  readonly #kept = new Map<string, NextTableVersion>();
  /** the number of consecutive rejections because of another writer whose version is not visible */
  #vain = 0;

  constructor(rest: RestCatalogue, label: string, open: OpenTableStore) {
    this.#rest = rest;
    this.#label = label;
    this.#open = open;
  }

  async read(directory: string): Promise<unknown> {
    return (await this.#load(directory))?.metadata ?? null;
  }

  async locationOf(directory: string): Promise<string> {
    const known = this.#locations.get(directory) ?? (await this.#metadata(directory))?.location;
    if (known !== undefined) return known;
    throw new AppError('conflict', `${this.#label}: the catalogue has no table ${directory}`);
  }

  async holderOf(directory: string): Promise<TableHolder> {
    const metadata = await this.#metadata(directory);
    if (metadata === null || isUnused(metadata)) return 'nobody';
    return isOfAttempt(metadata) ? 'an attempt' : 'others';
  }

  async prepare(): Promise<void> {
    const { loads } = sideTableNames;
    if ((await this.#load(loads)) !== null) return;
    await this.#rest.makeNamespace();
    await this.#make({ name: loads, directory: loads, ...sideColumns(loads) });
  }

  async makeTables(tables: readonly NewTable[]): Promise<void> {
    for (const table of tables) if ((await this.#load(table.directory)) === null) await this.#make(table);
  }

  /** Returns null for a table that the catalogue does not have. */
  async storeOf(directory: string): Promise<TableStore | null> {
    const known = this.#stores.get(directory);
    if (known !== undefined && Date.now() < known.until) return known.store;
    const loaded = await this.#load(directory);
    return loaded === null ? null : this.#stores.get(directory)!.store;
  }

  async together<T>(work: () => Promise<T>): Promise<T | null> {
    this.#isTogether ??= (await this.#rest.isTogether()) ?? true;
    if (!this.#isTogether) return work();
    this.#waiting = [];
    try {
      const result = await work();
      const versions = this.#waiting;
      this.#waiting = null;
      return versions.length === 0 || (await this.#commitAll(versions)) ? result : null;
    } finally {
      this.#waiting = null;
    }
  }

  async kept(directory: string, before: TableMetadata): Promise<NextTableVersion | null> {
    const kept = this.#kept.get(directory);
    if (kept === undefined) return null;
    this.#kept.delete(directory);
    if (!isMoved(kept, before)) return kept;
    await kept.discard();
    return null;
  }

  async commit(version: NextTableVersion): Promise<boolean> {
    if (this.#waiting === null)
      return this.#settle([version], (updates) => this.#rest.commitTable(updates[0]!));
    this.#waiting.push(version);
    return true;
  }

  /** Commits all versions at once, or one after the other if the catalogue does not support that. */
  async #commitAll(versions: readonly NextTableVersion[]): Promise<boolean> {
    if (this.#isTogether === true && versions.length > 1) {
      const settled = await this.#settle(versions, async (updates) => {
        const outcome = await this.#rest.commitTogether(updates);
        if (outcome === 'unsupported') this.#isTogether = false;
        return outcome;
      });
      if (this.#isTogether) return settled;
    }
    let isWhole = true;
    for (const version of versions)
      // if another writer changed a table, all versions are made again; `_loads` comes last, because it must not list versions before they
      // exist
      if (!isWhole) await version.discard();
      else isWhole = await this.#settle([version], (updates) => this.#rest.commitTable(updates[0]!));
    return isWhole;
  }

  /** Returns whether the versions were committed. Returns false, and changes nothing, if the catalogue does not support the request. */
  async #settle(
    versions: readonly NextTableVersion[],
    send: (updates: readonly TableUpdate[]) => Promise<CommitOutcome>,
  ): Promise<boolean> {
    const updates = versions.map((version) => ({
      name: version.directory,
      requirements: requirementsOf(version.before),
      updates: updatesOf(version),
    }));
    let isCertain = true;
    for (let number = 1; ; number += 1) {
      const outcome = await send(updates);
      if (outcome === 'unsupported' && versions.length > 1) return false;
      if (outcome === 'unsupported')
        throw new AppError('target_not_allowed', `${this.#label}: the catalogue cannot change tables`);
      if (outcome === 'done') {
        if (versions.length === 1 || (await this.#arePresent(versions))) break;
        return false;
      }
      isCertain = isCertain && outcome === 'conflict';
      const { taken, moved } = await this.#lookAt(versions);
      if (taken.size === versions.length) break;
      if (outcome === 'conflict') {
        for (const version of versions)
          if (taken.has(version)) await version.settled();
          // an earlier request may still succeed: its files stay
          else if (isCertain) await this.#keepOrDiscard(version, moved);
        this.#vain = moved.size === 0 ? this.#vain + 1 : 0;
        if (this.#vain < maxVain) return false;
        throw new AppError(
          'service_unavailable',
          `${this.#label}: the catalogue reports a conflict with another writer, but lists no version by that writer; the next job that writes there tries again`,
        );
      }
      // send the same request again: its requirements let it succeed only once
      if (number === commitTries)
        throw new AppError(
          'service_unavailable',
          `${this.#label}: the catalogue did not confirm the commit of ${versions.length} tables; the next job that writes there checks the commit and finishes it`,
        );
      await sleep(firstPauseMs * 2 ** number * (0.5 + Math.random()));
    }
    for (const version of versions) await version.settled();
    return true;
  }

  /**
   * Checks versions that the catalogue reports as made. Some servers check all tables first and then change them one by one
   * (`commitTransaction` of Iceberg's own adapter). They silently skip a table that another writer changed in between.
   */
  async #arePresent(versions: readonly NextTableVersion[]): Promise<boolean> {
    const lost = new Set<NextTableVersion>();
    await eachAtOnce(versions, async (version) => {
      const now = await this.#metadata(version.directory);
      if (now === null || isLost(version, now)) lost.add(version);
    });
    if (lost.size === 0) return true;
    for (const version of versions) if (!lost.has(version)) await version.settled();
    return false;
  }

  /** Keeps the version for the next try, unless that needs another one of its table. */
  async #keepOrDiscard(version: NextTableVersion, moved: ReadonlySet<NextTableVersion>): Promise<void> {
    // the ledger records the versions of the other tables
    const isOutdated = moved.has(version) || version.directory === sideTableNames.loads;
    if (isOutdated || this.#isTogether !== true) await version.discard();
    else this.#kept.set(version.directory, version);
  }

  /** Returns the versions that exist, and those whose tables have changed. */
  async #lookAt(versions: readonly NextTableVersion[]): Promise<{
    readonly taken: ReadonlySet<NextTableVersion>;
    readonly moved: ReadonlySet<NextTableVersion>;
  }> {
    const taken = new Set<NextTableVersion>();
    const moved = new Set<NextTableVersion>();
    await eachAtOnce(versions, async (version) => {
      const now = await this.#metadata(version.directory);
      if (now !== null && isTaken(version, now)) taken.add(version);
      if (now === null || isMoved(version, now)) moved.add(version);
    });
    return { taken, moved };
  }

  async #make({ directory, columns, comment }: NewTable): Promise<void> {
    const stored = columns.map((column) => ({ ...column, sqlType: storedType(column.sqlType) }));
    const { schema, properties } = newTable(stored, comment);
    await this.#rest.makeTable(directory, schema, properties);
    if ((await this.#load(directory)) === null)
      throw new AppError(
        'conflict',
        `${this.#label}: the catalogue reported that it created table ${directory}, but does not list it`,
      );
  }

  async #metadata(directory: string): Promise<TableMetadata | null> {
    const loaded = await this.#load(directory);
    return loaded === null ? null : checkedMetadata(loaded.metadata, `${this.#label}: ${directory}`);
  }

  /** Loads a table from the catalogue, with the credentials for its files. */
  async #load(directory: string): Promise<LoadedTable | null> {
    const loaded = await this.#rest.loadTable(directory);
    if (loaded === null) return null;
    const told = checkedMetadata(loaded.metadata, `${this.#label}: ${directory}`);
    // paths are derived from the location
    const location = told.location.replace(/\/+$/, '');
    const known = this.#stores.get(directory);
    if (this.#locations.get(directory) !== location || known === undefined || Date.now() >= known.until) {
      const vended = vendedFor(location, loaded);
      const store = this.#open(location, vended?.access ?? null);
      // the code that uses the store gets the error
      store.catch(() => undefined);
      const until = Math.min(Date.now() + usualMs, (vended?.until ?? Infinity) - marginMs);
      this.#stores.set(directory, { store, until: Math.max(until, Date.now() + 1000) });
      this.#locations.set(directory, location);
    }
    return { ...loaded, metadata: { ...told, location } };
  }
}

export interface CatalogueLakeOptions extends CatalogueNamespace {
  /** `https://HOST/PATH`, without a trailing '/' */
  readonly address: string;
  readonly login: CatalogueLogin;
  readonly transport: CatalogueTransport;
  readonly openStore: OpenTableStore;
  /** see the options of tables in a bucket */
  readonly scratch: string;
  readonly lockTimeoutMs?: number;
}

/**
 * Creates a place for tables in a namespace of a catalogue. Jobs write to the locations that the catalogue gives, and their files count
 * once the catalogue lists them.
 */
export function catalogueLake(options: CatalogueLakeOptions): LakeTarget {
  const { address, login, label, transport, openStore, scratch, lockTimeoutMs } = options;
  const requests = createCatalogueRequests(address, login, label, transport);
  const tables = new CatalogueTables(createRestCatalogue(requests, address, options), label, openStore);
  return bucketLake({
    objects: createTableObjects(label, (table) => tables.storeOf(table)),
    location: label,
    prefix: '',
    label,
    catalogue: tables,
    scratch,
    ...(lockTimeoutMs === undefined ? {} : { lockTimeoutMs }),
  });
}
