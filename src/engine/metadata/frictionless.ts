/** Writes a Data Package (Frictionless Data, version 1): the tables of a folder of CSV or TSV files, with keys and documentation. */
import { stableHash } from '../map/names/identifiers.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedTable } from './described.ts';

/** A table in files. */
export interface PackagedTable {
  readonly name: string;
  /** called once, when the table is written */
  readonly describe: () => DescribedTable;
  /** paths of its files, which all have the columns of the table */
  readonly files: readonly PackagedFile[];
}

export interface PackagedFile {
  readonly path: string;
  readonly bytes?: number;
  /** hexadecimal */
  readonly sha256?: string;
}

export interface PackageOptions {
  readonly name: string;
  readonly title: string;
  readonly format: 'csv' | 'tsv';
}

/** Dialects have to name a sign: that one no document has (XML 1.1 §2.2). */
const noQuote = '\u{FFFF}';

/**
 * Yields the package in pieces, one for each table. Omits references to tables that are not in `tables`, and keys to tables that are
 * there more than once.
 */
export function* dataPackage(
  { name, title, format }: PackageOptions,
  tables: readonly PackagedTable[],
): Generator<string, void, void> {
  const names = resourceNames(tables.map((table) => table.name));
  const places = new Map<string, string | null>();
  for (const [index, table] of tables.entries())
    places.set(table.name, places.has(table.name) ? null : names[index]!);
  const [own] = resourceNames([name]);
  yield `{\n  "profile": "tabular-data-package",\n  "name": ${JSON.stringify(own)},\n`;
  yield `  "title": ${JSON.stringify(title)},\n  "resources": [\n`;
  for (const [at, { describe, files }] of tables.entries()) {
    const described = resource({ table: describe(), files }, names[at]!, places, format);
    const text = JSON.stringify([described], null, 2).slice(2, -2);
    yield `${at === 0 ? '' : ',\n'}  ${text.replaceAll('\n', '\n  ')}`;
  }
  yield '\n  ]\n}\n';
}

/** True if the name only has lower-case letters, digits, `.`, `_` and `-`. */
function isResourceName(name: string): boolean {
  return /^[a-z0-9._-]+$/.test(name);
}

function resourceNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>(names.filter(isResourceName));
  const seen = new Set<string>();
  return names.map((name) => {
    if (isResourceName(name) && !seen.has(name)) {
      seen.add(name);
      return name;
    }
    const plain = isResourceName(name)
      ? name
      : `${name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '_')}-${stableHash(name)}`;
    let made = plain;
    for (let number = 2; taken.has(made); number += 1) made = `${plain}.${number}`;
    taken.add(made);
    return made;
  });
}

function resource(
  { table, files }: { readonly table: DescribedTable; readonly files: readonly PackagedFile[] },
  name: string,
  places: ReadonlyMap<string, string | null>,
  format: PackageOptions['format'],
): object {
  const [only, ...others] = files;
  const single = others.length === 0 ? only : undefined;
  return {
    profile: 'tabular-data-resource',
    name,
    title: table.name,
    description: table.description,
    path: single?.path ?? files.map(({ path }) => path),
    scheme: 'file',
    format,
    mediatype: format === 'csv' ? 'text/csv' : 'text/tab-separated-values',
    encoding: 'utf-8',
    ...(single?.bytes === undefined ? {} : { bytes: single.bytes }),
    ...(single?.sha256 === undefined ? {} : { hash: `sha256:${single.sha256}` }),
    dialect:
      format === 'csv'
        ? { delimiter: ',', lineTerminator: '\n', quoteChar: '"', doubleQuote: true, header: true }
        : { delimiter: '\t', lineTerminator: '\n', quoteChar: noQuote, doubleQuote: false, header: true },
    schema: schemaOf(table, places, format),
  };
}

function schemaOf(
  table: DescribedTable,
  places: ReadonlyMap<string, string | null>,
  format: PackageOptions['format'],
): object {
  const foreignKeys = table.references.flatMap(({ column, parentTable, parentColumn }) => {
    const place = places.get(parentTable);
    if (place === undefined || place === null) return [];
    const resource = parentTable === table.name ? '' : place;
    return [{ fields: [column], reference: { resource, fields: [parentColumn] } }];
  });
  return {
    fields: table.columns.map((column) => {
      const isUnique = table.uniqueKeys.some(
        ({ columns }) => columns.length === 1 && columns[0] === column.name,
      );
      return field(column, isUnique, format);
    }),
    missingValues: [nullText(format)],
    ...(table.primaryKey.length === 0 ? {} : { primaryKey: table.primaryKey }),
    ...(foreignKeys.length === 0 ? {} : { foreignKeys }),
  };
}

/** Returns the text that represents NULL. */
function nullText(format: PackageOptions['format']): string {
  return format === 'csv' ? '' : '\\N';
}

function field(column: DescribedColumn, isUnique: boolean, format: PackageOptions['format']): object {
  const { name, type, nullable, description, enumeration } = column;
  const meaning = fieldType(type, format);
  // readers of CSV treat an empty text as NULL: a column that is never NULL has the empty text
  const keepsEmpty = format === 'csv' && !nullable && meaning['type'] === 'string';
  const constraints = {
    ...(nullable ? {} : { required: true }),
    ...(isUnique ? { unique: true } : {}),
    ...lengthOf(type, format),
    ...(enumeration === null || type.list === true || type.kind !== 'text'
      ? {}
      : { enum: enumeration.map((value) => written(value, format)) }),
  };
  return {
    name,
    ...meaning,
    description,
    ...(keepsEmpty ? { missingValues: [] } : {}),
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
  };
}

/** Returns the value as written in the file, for readers that do not know escapes. */
function written(value: string, format: PackageOptions['format']): string {
  return format === 'csv' ? value : value.replaceAll('\\', '\\\\');
}

/** In TSV a character may be written as two. */
function lengthOf({ kind, length, list }: ColumnType, format: PackageOptions['format']): object {
  const isBounded = kind === 'text' && length !== undefined && list !== true;
  return isBounded && format === 'csv' ? { maxLength: length } : {};
}

function fieldType(type: ColumnType, format: PackageOptions['format']): Readonly<Record<string, unknown>> {
  if (type.list === true) return { type: 'string' };
  switch (type.kind) {
    case 'text':
      return { type: 'string' };
    case 'boolean':
      return format === 'csv'
        ? { type: 'boolean', trueValues: ['true'], falseValues: ['false'] }
        : { type: 'boolean', trueValues: ['t'], falseValues: ['f'] };
    case 'smallint':
    case 'integer':
    case 'bigint':
      return { type: 'integer' };
    case 'numeric':
    case 'real':
    case 'double':
      return { type: 'number' };
    case 'date':
      return { type: 'date' };
    case 'time':
      return { type: 'time', format: 'any' };
    case 'timestamp':
    case 'timestamptz':
      return { type: 'datetime', format: 'any' };
  }
}
