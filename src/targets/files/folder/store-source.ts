/** Reads the rows of a place that a host application brings, for writing documents back, from copies of all its batches. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowStore } from '../../../ports/rows/registered.ts';
import type { RowSource } from '../../../ports/rows/source.ts';
import { manifestName } from '../place/journal.ts';
import { loadsOf, manifestText } from './contents/manifest.ts';
import { fetchBatch, readStore } from './row-store.ts';
import { createFolderRowSource } from './source.ts';

/** `scratch`: a folder of this machine for this job alone, which its worker removes. */
export function createStoreRowSource(store: RowStore, label: string, scratch: string): RowSource {
  const folder = createFolderRowSource({ directory: scratch, label });
  let closed: Promise<void> | null = null;
  return {
    label,
    async loads() {
      const manifest = await readStore(store);
      return manifest === null ? [] : loadsOf(manifest);
    },
    async open(model) {
      const manifest = await readStore(store);
      await mkdir(scratch, { recursive: true, mode: 0o700 });
      if (manifest !== null) {
        for (const { files } of manifest.tables)
          for (const { name } of files) await fetchBatch(store, name, scratch);
        await writeFile(join(scratch, manifestName), manifestText(manifest));
      }
      await folder.open(model);
    },
    documents: (name, versions) => folder.documents(name, versions),
    documentCount: (name, versions) => folder.documentCount(name, versions),
    rowsFrom: (documentKey) => folder.rowsFrom(documentKey),
    rowsOf: (documentKey) => folder.rowsOf(documentKey),
    close: () => folder.close().finally(() => (closed ??= store.close?.() ?? Promise.resolve())),
  };
}
