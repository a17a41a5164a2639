/** The facts about models for the integration catalogue: read once per model, because a model never changes. */
import { inSlices } from '../../engine/in-slices.ts';
import { declaredKeys, type DeclaredKeys } from '../../engine/model/declared-keys.ts';
import type { CatalogStore, TableRecord } from '../../ports/stores/catalog.ts';
import type { FeedVersion } from './list.ts';

export interface TableFacts {
  readonly name: string;
  readonly xpath: string;
  /** name of the column that numbers its rows; null: it has none */
  readonly rowKey: string | null;
  /** columns in their order; ids are unique within one logical schema: `firstColumn` and up is the index of each among all columns */
  readonly columns: readonly string[];
  readonly firstColumn: number;
  /** columns with a key, by their place in the table */
  readonly keys: readonly {
    readonly at: number;
    readonly key: 'PK' | 'FK';
    readonly references: string | null;
  }[];
}

export interface FeedModel {
  readonly tables: readonly TableFacts[];
  readonly declared: DeclaredKeys;
}

export interface ModelFactsReader {
  /** Reads models by id of the logical schema. */
  read(idOrg: number, versions: readonly FeedVersion[]): Promise<ReadonlyMap<number, FeedModel>>;
}

/** columns of the models that are remembered */
const mostColumns = 500_000;
/** models that one query brings */
const modelsAtOnce = 100;

/** Remembers models by their SHA-256, the latest ones, for as long as it lives. */
export function createModelFacts(
  catalog: Pick<CatalogStore, 'listModelHashes' | 'listModels'>,
): ModelFactsReader {
  const known = new Map<string, FeedModel>();
  let columns = 0;

  function remember(hash: string, facts: FeedModel): void {
    known.set(hash, facts);
    columns += columnCount(facts);
    for (const [oldest, { tables }] of known) {
      if (columns <= mostColumns || oldest === hash) break;
      columns -= columnCount({ tables });
      known.delete(oldest);
    }
  }

  return {
    async read(idOrg, versions) {
      const ids = versions.map(({ idLschma }) => idLschma);
      const hashes = await catalog.listModelHashes(idOrg, ids);
      const found = new Map<string, FeedModel>();
      const missing = new Map<string, number>();
      for (const [idLschma, hash] of hashes) {
        const facts = known.get(hash);
        if (facts === undefined) missing.set(hash, idLschma);
        else found.set(hash, facts);
      }
      const wanted = [...missing];
      for (let at = 0; at < wanted.length; at += modelsAtOnce) {
        const some = wanted.slice(at, at + modelsAtOnce);
        const models = await catalog.listModels(
          idOrg,
          some.map(([, idLschma]) => idLschma),
        );
        for (const [hash, idLschma] of some) {
          const read = models.get(idLschma);
          if (read === undefined) continue;
          const facts = {
            tables: tableFacts(read.tables),
            declared: await inSlices(declaredKeys(read.model)),
          };
          remember(hash, facts);
          found.set(hash, facts);
        }
      }
      return new Map(
        [...hashes].flatMap(([idLschma, hash]) => {
          const facts = found.get(hash);
          return facts === undefined ? [] : [[idLschma, facts] as const];
        }),
      );
    },
  };
}

function columnCount({ tables }: Pick<FeedModel, 'tables'>): number {
  return tables.reduce((sum, table) => sum + table.columns.length, 0);
}

function tableFacts(tables: readonly TableRecord[]): TableFacts[] {
  let firstColumn = 0;
  return tables.map(({ name, xpath, columns }) => {
    const keys = columns.flatMap(({ key, references }, at) =>
      key === null ? [] : [{ at, key, references }],
    );
    const facts = {
      name,
      xpath,
      rowKey: columns.find(({ key }) => key === 'PK')?.name ?? null,
      columns: columns.map((column) => column.name),
      firstColumn,
      keys,
    };
    firstColumn += columns.length;
    return facts;
  });
}
