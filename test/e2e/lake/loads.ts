/** Two versions of a standard, and the jobs that load their documents into several places. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { clarkName } from '../../../src/engine/model/source-model.ts';
import { convert } from '../../support/service/tools.ts';
import type { Trial } from '../../support/service/trial.ts';
import type { StandardVersion } from '../../support/versions/standards.ts';
import type { Places, TablePlace } from './places.ts';
import type { ModelTables } from './tables.ts';

interface StoredVersion {
  readonly origin: string;
  readonly logical: string;
  /** one for each load, without names that another one has */
  readonly groups: readonly string[];
  /** of the first group */
  readonly document: string;
}

export class StandardLoads {
  /** of both versions */
  readonly tables: ModelTables;
  readonly #places: Places;
  readonly #stored: readonly StoredVersion[];

  constructor(places: Places, stored: readonly StoredVersion[], tables: ModelTables) {
    this.tables = tables;
    this.#places = places;
    this.#stored = stored;
  }

  /** Of `xml2er` for a group of two documents of version `at` (0, 1). */
  argv(place: TablePlace, at: number, group: number, ...more: readonly string[]): string[] {
    const { groups, origin, logical } = this.#stored[at]!;
    const to = ['-o', place.target, ...place.format, ...place.login];
    return [groups[group]!, '-x', origin, '-l', logical, ...to, ...more];
  }

  async load(at: number, group: number, ...more: readonly string[]): Promise<void> {
    await this.inPlaces((place) =>
      convert(this.#places.home, 'xml2er', ...this.argv(place, at, group, ...more)),
    );
  }

  /** The first document of the version's first group. */
  async unload(at: number): Promise<void> {
    const { logical, document } = this.#stored[at]!;
    await this.inPlaces(async ({ target, login }) => {
      const options = ['-l', logical, '-i', target, '-D', document, ...login];
      expect(await convert(this.#places.home, 'unload', ...options), target).toMatchObject({ documents: 1 });
    });
  }

  /** None waits for another one. */
  async inPlaces(work: (place: TablePlace) => Promise<unknown>): Promise<void> {
    await Promise.all(this.#places.all.map(work));
  }
}

/** Stores the first two versions: three groups of two documents of each, which may be the same documents under names of their own. */
export async function storeVersions(
  trial: Trial,
  places: Places,
  versions: readonly StandardVersion[],
): Promise<StandardLoads> {
  const stored: StoredVersion[] = [];
  for (const [at, { files, entry, root, documents }] of versions.slice(0, 2).entries()) {
    const folder = join(places.home.directory, `v${at}`);
    const put = async (path: string, bytes: Uint8Array): Promise<void> => {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), bytes);
    };
    for (const { name, bytes } of files) await put(join('xsd', name), bytes);
    for (let group = 0; group < 3; group += 1)
      for (const one of [0, 1]) {
        const { bytes } = documents[(2 * group + one) % documents.length]!;
        await put(join(`group-${group}`, `v${at}-${group}-${one}.xml`), bytes);
      }
    const made = await convert(
      places.home,
      'xsd2er',
      join(folder, 'xsd', entry),
      '--name',
      'standard',
      '-g',
      '3',
      '--root',
      clarkName(root),
      ...(at === 0 ? [] : ['--parent', stored[at - 1]!.origin]),
    );
    stored.push({
      origin: String(made.origin),
      logical: String(made.logical),
      groups: [0, 1, 2].map((group) => join(folder, `group-${group}`)),
      document: `v${at}-0-0.xml`,
    });
  }
  const catalog = createPostgresCatalogStore(await trial.metadb(places.home));
  const models = await Promise.all(
    stored.map(async ({ origin, logical }) => {
      const one = await catalog.loadLogicalSchema(1, { idSch: Number(origin), idLschma: Number(logical) });
      return one!.model;
    }),
  );
  return new StandardLoads(
    places,
    stored,
    models.flatMap((model) => model.tables),
  );
}
