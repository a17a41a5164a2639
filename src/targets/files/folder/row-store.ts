/** A folder of JSON Lines whose files are batches of a store that a host application provides. The manifest is the state of the store. */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { RowBatch, RowStore } from '../../../ports/row-sink.ts';
import { manifestText, parseManifest, type ManifestFile, type TargetManifest } from './manifest.ts';
import { tableColumns } from './table-columns.ts';
import { checkLock, type PlaceLock } from '../place/journal.ts';
import type { FolderStep, FolderTarget, HeldFolder } from './place.ts';

export interface StoreFolderOptions {
  readonly store: RowStore;
  /** the name of the target for people */
  readonly label: string;
  /** a folder of this machine that only this job uses; removed at the end */
  readonly staging: string;
  /** takes the lock of the writer: one at a time, across all machines */
  readonly lock: () => Promise<PlaceLock>;
}

export function storeFolder(options: StoreFolderOptions): FolderTarget {
  const { store, label, staging } = options;
  return {
    label,
    localLabel: staging,
    look: () => readStore(store),
    hold: async () => {
      await rm(staging, { recursive: true, force: true });
      await mkdir(staging, { recursive: true, mode: 0o700 });
      return new HeldStore(options, await options.lock());
    },
    async close() {
      await rm(staging, { recursive: true, force: true });
      await store.close?.();
    },
  };
}

class HeldStore implements HeldFolder {
  readonly label: string;
  readonly local: string;
  readonly #store: RowStore;
  readonly #lock: PlaceLock;

  constructor({ store, label, staging }: StoreFolderOptions, lock: PlaceLock) {
    this.label = label;
    this.local = staging;
    this.#store = store;
    this.#lock = lock;
  }

  readManifest(): Promise<TargetManifest | null> {
    return readStore(this.#store);
  }

  async readStep(): Promise<null> {
    // a step is a single change of the store, so none is ever pending
    return null;
  }

  async findFirst(): Promise<null> {
    // a store has no batches except jobs
    return null;
  }

  async localFile(name: string): Promise<string> {
    await fetchBatch(this.#store, name, this.local);
    return join(this.local, name);
  }

  async stage(name: string): Promise<string> {
    const path = join(this.local, name);
    await mkdir(path);
    return path;
  }

  async discard(name: string): Promise<void> {
    await rm(join(this.local, name), { recursive: true, force: true });
  }

  async handOver(): Promise<void> {
    // the store adopts the rows in the change that publishes them
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

  async settle(): Promise<void> {
    // the change has done this already
  }

  async remove(): Promise<void> {
    // the change has done this already
  }

  async conclude(): Promise<void> {
    // the change has done this already
  }

  checkHeld(): Promise<void> {
    return checkLock(this.#lock, this.label);
  }

  async sweep(): Promise<void> {
    // an attempt that decided no step left nothing in the store
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

/** Copies a batch into a folder, under its name. */
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
  const types = new Map(tableColumns(model!, table).map((column) => [column.name, column.type] as const));
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
