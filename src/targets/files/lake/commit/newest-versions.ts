/** The newest versions of tables: what a step has read of a table once, it does not read again. */
import { eachAtOnce } from '../store/at-once.ts';
import type { LakePlace } from '../store/place.ts';
import type { TableFormat, TableVersion } from '../table-format.ts';

export class NewestVersions {
  readonly #place: LakePlace;
  readonly #seen = new Map<string, TableVersion>();
  /** of the next call of `of`, by what it asks for */
  readonly #ahead = new Map<string, TableVersion | null>();

  constructor(place: LakePlace) {
    this.#place = place;
  }

  /** As it is now; null where there is no table. AppErrors as of `TableFormat.readTable`. */
  async of(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const key = `${format.name} ${directory}`;
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead === undefined ? this.#read(format, { name, directory }) : ahead;
  }

  /** Several at a time, for the calls of `of` that are to come. */
  async lookAt(format: TableFormat, tables: readonly TableAt[]): Promise<void> {
    await eachAtOnce(tables, async (table) => {
      this.#ahead.set(`${format.name} ${table.directory}`, await this.#read(format, table));
    });
  }

  async #read(format: TableFormat, { name, directory }: TableAt): Promise<TableVersion | null> {
    const label = `${this.#place.label}: ${name}`;
    const key = `${format.name} ${directory}`;
    const seen = this.#seen.get(key);
    const now =
      seen === undefined
        ? await format.readTable(this.#place, directory, label)
        : await format.readSince(this.#place, directory, label, seen);
    if (now === null) this.#seen.delete(key);
    else this.#seen.set(key, now);
    return now;
  }
}

export interface TableAt {
  readonly name: string;
  readonly directory: string;
}
