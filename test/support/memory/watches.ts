/** Watches in memory, as people ask for them: no scheduler runs here. */
import { AppError } from '../../../src/errors.ts';
import type { Clock } from '../../../src/ports/environment.ts';
import type { Page } from '../../../src/ports/stores/jobs.ts';
import {
  watchFileStatuses,
  type WatchDefinition,
  type WatchFileRecord,
  type WatchFileStatus,
  type WatchRecord,
  type WatchStore,
} from '../../../src/ports/stores/watches.ts';

interface Row {
  readonly idOrg: number;
  readonly idWatch: number;
  readonly created: number;
  definition: WatchDefinition;
  nextRun: number | null;
  files: WatchFileRecord[];
}

export interface MemoryWatchStore extends WatchStore {
  /** As a scheduler would. */
  addFile(idWatch: number, file: Partial<WatchFileRecord> & { readonly name: string }): void;
}

export function createMemoryWatchStore(clock: Clock): MemoryWatchStore {
  const rows: Row[] = [];
  let last = 0;
  const own = (idOrg: number, idWatch: number): Row | undefined =>
    rows.find((row) => row.idOrg === idOrg && row.idWatch === idWatch);
  const checkName = (idOrg: number, name: string, idWatch: number | null): void => {
    const other = rows.find((row) => row.idOrg === idOrg && row.definition.name === name);
    if (other !== undefined && other.idWatch !== idWatch)
      throw new AppError('conflict', `a watch called ${name} already exists: give another name`);
  };
  const recordOf = ({ idOrg, idWatch, created, definition, nextRun, files }: Row): WatchRecord => {
    const { sealed: _, settleMs: __, ...members } = definition;
    const waiting = files.filter(({ status }) => status === 'waiting');
    return {
      ...members,
      id_watch: idWatch,
      id_org: idOrg,
      created,
      next_run: nextRun,
      last_run: null,
      id_job: null,
      stalled: null,
      stalled_at: null,
      files: counts(files),
      waiting_bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
      waiting_since: waiting.length === 0 ? null : Math.min(...waiting.map(({ seen_at }) => seen_at)),
    };
  };
  const nextRunOf = (definition: WatchDefinition, nextRunMs: number | null): number | null =>
    definition.paused ? null : (nextRunMs ?? clock.nowMs());

  return {
    async createWatch(idOrg, definition, nextRunMs, most) {
      checkName(idOrg, definition.name, null);
      if (rows.filter((row) => row.idOrg === idOrg).length >= most)
        throw new AppError('too_many_requests', `at most ${most} watches (svc.limits.watches)`, {
          headers: { 'Retry-After': '60' },
        });
      const row = {
        idOrg,
        idWatch: (last += 1),
        created: clock.nowMs(),
        definition,
        nextRun: nextRunOf(definition, nextRunMs),
        files: [],
      };
      rows.push(row);
      return recordOf(row);
    },
    async findWatch(idOrg, idWatch) {
      const row = own(idOrg, idWatch);
      return row === undefined ? null : recordOf(row);
    },
    async findWatchNamed(idOrg, name) {
      const row = rows.find((one) => one.idOrg === idOrg && one.definition.name === name);
      return row === undefined ? null : recordOf(row);
    },
    listWatches: async (idOrg, page, size) =>
      paged(rows.filter((row) => row.idOrg === idOrg).map(recordOf), page, size),
    readSealed: async (idOrg, idWatch) => own(idOrg, idWatch)?.definition.sealed ?? null,
    async replaceWatch(idOrg, idWatch, definition, nextRunMs) {
      const row = own(idOrg, idWatch);
      if (row === undefined) return null;
      checkName(idOrg, definition.name, idWatch);
      row.definition = definition;
      row.nextRun = nextRunOf(definition, nextRunMs);
      return recordOf(row);
    },
    async removeWatch(idOrg, idWatch) {
      const row = own(idOrg, idWatch);
      if (row !== undefined) rows.splice(rows.indexOf(row), 1);
      return row !== undefined;
    },
    async listWatchFiles(idOrg, idWatch, status, page, size) {
      const row = own(idOrg, idWatch);
      if (row === undefined) return null;
      const chosen = row.files.filter((file) => status === null || file.status === status);
      return paged(chosen.toReversed(), page, size);
    },
    async runNow(idOrg, idWatch, retry) {
      const row = own(idOrg, idWatch);
      if (row === undefined) return null;
      if (row.definition.paused)
        throw new AppError('conflict', 'the watch is paused: resume it, by PATCH with {"paused": false}');
      row.files = row.files.map((file) =>
        file.status === 'rejected' && retry !== 'none' && (retry === 'all' || retry.includes(file.name))
          ? { ...file, status: 'waiting', reason: null }
          : file,
      );
      row.nextRun = clock.nowMs();
      return recordOf(row);
    },
    async listBroughtFiles(idOrg, idWatch, names) {
      const files = own(idOrg, idWatch)?.files ?? [];
      return files
        .filter(({ name, status }) => status === 'loaded' && names.includes(name))
        .map(({ name, modified, seen_at: seenAt }) => ({ name, modified: modified ?? seenAt }));
    },
    async listFilesInTarget() {
      return [];
    },
    async watchFigures() {
      return {
        active: rows.filter(({ definition }) => !definition.paused).length,
        paused: rows.filter(({ definition }) => definition.paused).length,
        stalled: 0,
        files: counts(rows.flatMap(({ files }) => files)),
        oldestWaitingMs: 0,
      };
    },
    addFile(idWatch, file) {
      const defaults = { version: '1', bytes: 1, modified: null, sha256: null, status: 'waiting' } as const;
      const more = { id_job: null, reason: null, replaced_by: null, seen_at: clock.nowMs() };
      rows.find((row) => row.idWatch === idWatch)!.files.push({ ...defaults, ...more, ...file });
    },
  };
}

function paged<T>(all: readonly T[], page: number, size: number): Page<T> {
  return { content: all.slice(page * size, (page + 1) * size), page, size, totalElements: all.length };
}

function counts(files: readonly WatchFileRecord[]): Record<WatchFileStatus, number> {
  return Object.fromEntries(
    watchFileStatuses.map((status) => [status, files.filter((file) => file.status === status).length]),
  ) as Record<WatchFileStatus, number>;
}
