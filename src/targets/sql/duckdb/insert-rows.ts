/** Loads staged CSV into tables, each by one statement. */
import { sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { shiftedSideRows } from '../keys.ts';
import type { KeyOffsets } from '../publication.ts';
import type { Publication } from '../publication.ts';
import type { Incoming } from './alter-tables.ts';
import { stagedColumn, stagedRows, stagedValue, type StagedCsv } from './csv-import.ts';
import { foldedName, type DuckDb } from './database.ts';
import { columnSqlType } from './types.ts';

/** Adds the staged rows of a table of the model. `incoming`: the needs of its columns. */
export async function insertRows(
  publication: Publication<DuckDb>,
  index: number,
  incoming: readonly Incoming[],
  offsets: KeyOffsets,
): Promise<number> {
  const { database, plan } = publication;
  const csv = publication.staged.get(index)!;
  const types = publication.types.get(index)!;
  const table = publication.drawn.tables[index]!;
  const keyAt = table.columns.findIndex(({ name }) => table.primaryKey.includes(name));
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0n : (offsets.get(foldedName(owner)) ?? 0n);
    const { type } = plan.model.tables[index]!.columns[at]!;
    const isText = publication.textRows.get(columnId(index, at));
    const texts = isText === undefined ? undefined : { keys: isText, key: stagedColumn(keyAt) };
    const value = stagedValue(stagedColumn(at), type, types[at]!, incoming[at]!.digits, texts);
    return offset === 0n ? value : `${value} + ${offset}`;
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const into = `INSERT INTO ${doubleQuoted(table.name)} (${columns})`;
  if (plan.keys === 'hash' && keyAt >= 0) {
    return database.run(
      `${into} SELECT ${values.join(', ')} FROM (${newRows(csv, keyAt, table.name, table.primaryKey[0]!)})`,
    );
  }
  return database.run(`${into} SELECT ${values.join(', ')} FROM ${stagedRows(csv)}`);
}

/** Returns the staged rows whose key is not in the table yet, each key once. */
function newRows(csv: StagedCsv, keyAt: number, table: string, key: string): string {
  const staged = stagedColumn(keyAt);
  return `SELECT DISTINCT ON (${staged}) s.* FROM ${stagedRows(csv)} s
    WHERE NOT EXISTS (SELECT 1 FROM ${doubleQuoted(table)} t WHERE t.${doubleQuoted(key)} = s.${staged}::BIGINT)`;
}

/** Adds the staged rows of `_documents`, with their keys if documents are merged. */
export async function addDocuments(publication: Publication<DuckDb>, offsets: KeyOffsets): Promise<number> {
  const { database, driver, plan, staged } = publication;
  const csv = staged.get('documents')!;
  const { columns, primaryKey } = sideTableDefinitions.documents;
  const documents = sideTableNames.documents;
  const offset = offsets.get(documents) ?? 0n;
  const values = columns.map(({ type }, at) => stagedValue(stagedColumn(at), type, columnSqlType(type)));
  if (offset > 0n) values[0] += ` + ${offset}`;
  const source = plan.keys === 'hash' ? `(${newRows(csv, 0, documents, primaryKey[0]!)})` : stagedRows(csv);
  const names = columns.map(({ name }) => doubleQuoted(name));
  const { merging } = publication;
  if (merging === null)
    return database.run(
      `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${source}`,
    );
  const [name, sha256] = ['name', 'sha256'].map((wanted) =>
    columns.findIndex((column) => column.name === wanted),
  ) as [number, number];
  values[sha256] = 'm.sha256';
  return database.run(
    `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}, key, valid_from) SELECT ${values.join(', ')}, m.key, ${driver.instant(merging.moment)}
       FROM ${source} s JOIN ${merging.documents} m ON m.name = s.${stagedColumn(name)} AND m.written = s.${stagedColumn(sha256)}`,
  );
}

/** Adds rows of `_unmapped` or `_lexical`. They belong to rows of any table, whose keys have offsets of their own. */
export async function addSideRows(
  publication: Publication<DuckDb>,
  side: 'unmapped' | 'lexical',
  offsets: KeyOffsets,
): Promise<number> {
  const { database, plan, staged } = publication;
  const csv = staged.get(side)!;
  const { columns } = sideTableDefinitions[side];
  const { values, join } = shiftedSideRows(publication, side, offsets, {
    value: (at) => stagedValue(`s.${stagedColumn(at)}`, columns[at]!.type, columnSqlType(columns[at]!.type)),
    text: (at) => `s.${stagedColumn(at)}`,
  });
  const isNew =
    plan.keys === 'hash'
      ? ` WHERE s.${stagedColumn(0)}::BIGINT NOT IN (SELECT document_key FROM ${doubleQuoted(sideTableNames.documents)})`
      : '';
  return database.run(
    `INSERT INTO ${doubleQuoted(sideTableNames[side])}
     SELECT ${plan.keys === 'hash' ? 'DISTINCT ' : ''}${values.join(', ')} FROM ${stagedRows(csv)} s${join}${isNew}`,
  );
}
