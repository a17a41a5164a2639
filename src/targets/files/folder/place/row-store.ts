/** A folder of JSON Lines whose files are batches of a store that a host application brings: the manifest is the state of the store. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { RowBatch, RowStore } from '../../../../ports/rows/registered.ts';
import { manifestText, parseManifest, type ManifestFile, type TargetManifest } from '../contents/manifest.ts';
import { tableColumns } from '../contents/table-columns.ts';
import type { FolderLock, FolderPlace, FolderStep, HeldFolder } from './folder-place.ts';

export interface StoreFolderOptions {
  readonly store: RowStore;
  /** the target as people named it */
  readonly label: string;
  /** a folder of this machine, for this job alone; removed at the end */
  readonly staging: string;
  /** one writer at a time, on all machines */
  readonly lock: () => Promise<FolderLock>;
}

export function storeFolder({ store, label, staging, lock }: StoreFolderOptions): FolderPlace {
  return {
    label,
    localLabel: staging,
    look: () => readStore(store),
    hold: async () => {
      await rm(staging, { recursive: true, force: true });
      const held = await lock();
      try {
        await mkdir(staging, { recursive: true, mode: 0o700 });
        return new HeldStore(store, staging, held);
      } catch (error) {
        await held.release();
        throw error;
      }
    },
    async close() {
      await rm(staging, { recursive: true, force: true });
      await store.close?.();
    },
  };
}

class HeldStore implements HeldFolder {
  readonly local: string;
  readonly #store: RowStore;
  readonly #lock: FolderLock;

  constructor(store: RowStore, local: string, lock: FolderLock) {
    this.#store = store;
    this.local = local;
    this.#lock = lock;
  }

  readManifest(): Promise<TargetManifest | null> {
    return readStore(this.#store);
  }

  async findFirst(): Promise<null> {
    // a store has no batches but those of jobs
    return null;
  }

  fetch(name: string): Promise<void> {
    return fetchBatch(this.#store, name, this.local);
  }

  async stage(name: string): Promise<void> {
    await mkdir(join(this.local, name));
  }

  async prepare(): Promise<void> {
    // the store takes the rows in the step that makes them its own
  }

  isHeld(): Promise<boolean> {
    return this.#lock.isHeld();
  }

  decide(step: FolderStep, mayDecide: () => Promise<void>): Promise<void> {
    const fresh = new Set(step.files);
    const add = step.manifest.tables.flatMap(({ name: table, files }) =>
      files
        .filter(({ name }) => fresh.has(name))
        .map((file) => batchOf(step, join(this.local, step.staging), table, file)),
    );
    const drop = step.remove.filter((name) => name.endsWith('.jsonl'));
    return this.#store.change({ state: manifestText(step.manifest), add, drop }, mayDecide);
  }

  async finish(): Promise<void> {
    // the change was all of it
  }

  release(): Promise<void> {
    return this.#lock.release();
  }
}

/** Returns the manifest that is the state of a store, or null if nothing was loaded there. */
export async function readStore(store: RowStore): Promise<TargetManifest | null> {
  const state = await store.readState();
  return state === null ? null : parseManifest(state);
}

/** Writes a batch into a folder, under its name. */
export async function fetchBatch(store: RowStore, name: string, folder: string): Promise<void> {
  await pipeline(store.readLines(name), createWriteStream(join(folder, name), { mode: 0o600 }));
}

function batchOf(
  { model }: FolderStep,
  folder: string,
  table: string,
  { name, rows: rowCount, columns }: ManifestFile,
): RowBatch {
  const path = join(folder, name);
  const types = new Map(tableColumns(model, table).map((column) => [column.name, column.type] as const));
  return {
    name,
    table,
    columns: columns.map((column) => ({ name: column, type: types.get(column)! })),
    rowCount,
    lines: () => createReadStream(path),
    async *rows() {
      const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity });
      for await (const line of lines) if (line !== '') yield parseRow(line);
    },
  };
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

const exactDigits: Reviver = (_, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? context.source
    : value;

function parseRow(line: string): Readonly<Record<string, unknown>> {
  return JSON.parse(line, exactDigits as (key: string, value: unknown) => unknown) as Readonly<
    Record<string, unknown>
  >;
}
