/** DuckDB for reading, which starts when it is first needed: most folders and tables are read without it. */
import type { DuckDbReader } from './database.ts';

export class LazyReader {
  readonly #open: () => Promise<DuckDbReader>;
  #reader: Promise<DuckDbReader> | null = null;

  constructor(open: () => Promise<DuckDbReader>) {
    this.#open = open;
  }

  opened(): Promise<DuckDbReader> {
    return (this.#reader ??= this.#open());
  }

  async close(): Promise<void> {
    // whoever asked for it was told that it did not open
    (await this.#reader?.catch(() => null))?.close();
  }
}
