/** How much of small tables is held while a folder is read. */
import type { ManifestFile } from './contents/manifest.ts';

/** values of all tables together whose rows are held */
const mostHeldValues = 2_000_000;
/** of Parquet, which may have a hundred times as many bytes when they are read */
const mostHeldBytes = 4 * 1024 * 1024;

/** What is left of the memory for tables that are read as a whole. */
export class HeldRoom {
  #values = mostHeldValues;
  #bytes = mostHeldBytes;

  /** False where the rows of the files have no room. */
  take(files: readonly Pick<ManifestFile, 'rows' | 'bytes'>[], columns: number): boolean {
    const values = files.reduce((sum, { rows }) => sum + rows * columns, 0);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    if (values > this.#values || bytes > this.#bytes) return false;
    this.#values -= values;
    this.#bytes -= bytes;
    return true;
  }
}
