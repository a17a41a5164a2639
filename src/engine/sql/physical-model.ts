/** The tables of one database, ready to be written as DDL: physical names, SQL types, keys, comments. */
import { lazyArray } from '../model/packed/reader.ts';
import { rootTables } from '../model/keys.ts';
import type { Column, RelationalModel, Table, ColumnType } from '../model/relational-model.ts';
import { sideTableDefinitions, type SideTableDefinition } from '../model/side-tables.ts';
import { columnComment, identityNotes, tableComment } from './comment-text.ts';
import type { Dialect } from './dialect.ts';
import { placesOfRows, type PlacesOfRows } from './places-of-rows.ts';
import { byteLength, stableHash, truncateToBytes } from '../map/names/identifiers.ts';

interface PhysicalColumn {
  readonly name: string;
  readonly sqlType: string;
  readonly nullable: boolean;
  readonly comment: string;
}

export interface PhysicalForeignKey {
  readonly column: string;
  readonly parentTable: string;
  readonly parentColumn: string;
  /** index of the parent in the model's tables; -1: `_documents` */
  readonly parent: number;
  /** true: the parent is a later table, as part of a circle */
  readonly forward: boolean;
}

interface PhysicalUniqueKey {
  readonly name: string;
  readonly columns: readonly string[];
  /** the columns of `columns` that may be NULL */
  readonly nullable: readonly string[];
}

export interface PhysicalTable {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly PhysicalColumn[];
  readonly primaryKey: readonly string[];
  /** name of the table whose keys the rows have: its own, unless the table continues the rows of another */
  readonly keysOf: string;
  /** keyed by column with keys: the table that the keys are of, including columns without a foreign key */
  readonly keyOwners: ReadonlyMap<string, string>;
  readonly uniqueKeys: readonly PhysicalUniqueKey[];
  readonly foreignKeys: readonly PhysicalForeignKey[];
  /** columns of an additional index; empty for none */
  readonly index: readonly string[];
  readonly indexName: string;
  /** constraints that the database does not support */
  readonly notes: readonly string[];
}

/**
 * Returns the model's tables, in its order. Their names are computed at once, the rest of a table on first access. `declared`: the
 * original model, whose names are used in messages on keys and references.
 */
export function physicalTables(
  model: RelationalModel,
  dialect: Dialect,
  declared: RelationalModel = model,
): PhysicalTable[] {
  const names = physicalNames(model, dialect);
  const places = placesOfRows(model);
  let rules: ReadonlyMap<number, readonly string[]> | null = null;
  let roots: ReadonlySet<number> | null = null;
  return lazyArray(model.tables.length, (index) => {
    let whole: Omit<PhysicalTable, 'comment'> | null = null;
    const read = (): Omit<PhysicalTable, 'comment'> =>
      (whole ??= physicalTable(
        model,
        dialect,
        names,
        index,
        places,
        (roots ??= rootTables(model)).has(index),
      ));
    return {
      name: names[index]!.name,
      get comment() {
        return tableComment(model.tables[index]!, places, (rules ??= identityNotes(declared)).get(index));
      },
      get columns() {
        return read().columns;
      },
      get primaryKey() {
        return read().primaryKey;
      },
      get keysOf() {
        return read().keysOf;
      },
      get keyOwners() {
        return read().keyOwners;
      },
      get uniqueKeys() {
        return read().uniqueKeys;
      },
      get foreignKeys() {
        return read().foreignKeys;
      },
      get index() {
        return read().index;
      },
      indexName: '',
      get notes() {
        return read().notes;
      },
    };
  });
}

/** `within`: the model that the side table belongs to, for names that depend on others. */
export function physicalSideTable(
  definition: SideTableDefinition,
  dialect: Dialect,
  within?: Pick<RelationalModel, 'nameMaxLength'>,
): PhysicalTable {
  const indexName = physicalName(dialect, `${definition.name}_${definition.index.join('_')}_idx`);
  return {
    name: physicalName(dialect, definition.name),
    comment: definition.comment,
    columns: definition.columns.map(({ name, type, nullable, comment, usualLength }) => ({
      name,
      sqlType: dialect.typeName(
        usualLength === undefined || dialect.capabilities.keyTextMaxLength === null
          ? type
          : { ...type, length: usualLength },
      ),
      nullable,
      comment,
    })),
    primaryKey: definition.primaryKey,
    keysOf: physicalName(dialect, definition.name),
    keyOwners: new Map(),
    uniqueKeys: [],
    foreignKeys: [],
    index: dialect.capabilities.indexes === 'none' ? [] : definition.index,
    indexName: within === undefined ? indexName : modelName(within, indexName),
    notes: [],
  };
}

function physicalTable(
  model: RelationalModel,
  dialect: Dialect,
  names: readonly PhysicalTableNames[],
  index: number,
  places: PlacesOfRows,
  isRootTable: boolean,
): Omit<PhysicalTable, 'comment'> {
  const table = model.tables[index]!;
  const { name, columns } = names[index]!;
  const keyColumns = new Set(table.uniqueKeys.flatMap((key) => key.columns));
  const bounded = boundedText(dialect, table);
  const notes: string[] = [];
  const { maxColumns } = dialect;
  // an early version of a model may have drawn such a table; later ones split it
  if (maxColumns !== null && columns.length > maxColumns)
    notes.push(`${name} has ${columns.length} columns, ${dialect.name} allows ${maxColumns}`);
  const uniqueKeys: PhysicalUniqueKey[] = [];
  for (const key of dialect.capabilities.uniqueKeys === 'none' ? [] : table.uniqueKeys) {
    const members = key.columns.map((at) => table.columns[at]!);
    const keyName = physicalName(dialect, key.name);
    if (members.every((column) => fitsKey(dialect, column))) {
      uniqueKeys.push({
        name: keyName,
        columns: key.columns.map((at) => columns[at]!),
        nullable: key.columns.filter((at) => table.columns[at]!.nullable).map((at) => columns[at]!),
      });
    } else notes.push(`unique key ${keyName} is omitted: its columns are too long for a key`);
  }
  const heldKeys = table.columns.flatMap((column, at) => {
    const key = heldKey(model, dialect, names, column, index);
    return key === null ? [] : [{ ...key, column: columns[at]! }];
  });
  // if the parent rows lead to the document, one check of it is enough
  const declaredKeys = isRootTable ? heldKeys : heldKeys.filter(({ parent }) => parent !== -1);
  const keysOf = table.continues === undefined ? name : names[table.continues]!.name;
  const primaryKey = table.columns.flatMap((column, at) => (column.role === 'row_key' ? [columns[at]!] : []));
  const { maxKeys } = dialect.capabilities;
  // the primary key is one
  const foreignKeys =
    maxKeys === undefined ? declaredKeys : declaredKeys.slice(0, maxKeys - 1 - uniqueKeys.length);
  const leftOut = declaredKeys.length - foreignKeys.length;
  if (leftOut > 0)
    notes.push(
      `${leftOut} of ${declaredKeys.length} foreign keys of ${name} are omitted: ${dialect.name} allows ${maxKeys} keys per table`,
    );
  return {
    name,
    columns: table.columns.map((column, at) => {
      const type = bounded || keyColumns.has(at) ? column.type : unbounded(column);
      return {
        name: columns[at]!,
        sqlType: dialect.typeName(type),
        nullable: column.nullable || (column.type.list === true && !dialect.capabilities.arraysNotNull),
        comment: columnComment(model, table, column, places),
      };
    }),
    primaryKey,
    keysOf,
    keyOwners: new Map([
      ...heldKeys.map(({ column, parentTable }) => [column, parentTable] as const),
      ...primaryKey.map((column) => [column, keysOf] as const),
    ]),
    uniqueKeys,
    foreignKeys,
    index: [],
    indexName: '',
    notes,
  };
}

/** Returns the reference of a column with keys: the parent table and its key column. Returns null if the column refers to no table. */
function heldKey(
  model: RelationalModel,
  dialect: Dialect,
  names: readonly PhysicalTableNames[],
  column: Column,
  index: number,
): Omit<PhysicalForeignKey, 'column'> | null {
  if (column.role === 'document') {
    const { name, primaryKey } = sideTableDefinitions.documents;
    return {
      parentTable: physicalName(dialect, name),
      parentColumn: primaryKey[0]!,
      parent: -1,
      forward: false,
    };
  }
  if (column.references === null) return null;
  const parent = model.tables[column.references]!;
  const key = parent.columns.findIndex((candidate) => candidate.role === 'row_key');
  if (key === -1) return null;
  const parentNames = names[column.references]!;
  return {
    parentTable: parentNames.name,
    parentColumn: parentNames.columns[key]!,
    parent: column.references,
    forward: column.references > index,
  };
}

function fitsKey(dialect: Dialect, column: Column): boolean {
  const limit = dialect.capabilities.keyTextMaxLength;
  if (column.type.list) return limit === null && dialect.capabilities.arrays;
  return limit === null || column.type.kind !== 'text' || (column.type.length ?? Infinity) <= limit;
}

/** True if the table's bounded text columns fit into one row. If they do not, they lose their bounds. */
function boundedText(dialect: Dialect, table: Table): boolean {
  const { boundedTextMaxBytes, inRow } = dialect.capabilities;
  const sum = (bytes: (type: Column['type']) => number): number =>
    table.columns.reduce((total, { type }) => total + bytes(type), 0);
  const bounded = sum(({ kind, list, length = 0 }) =>
    kind === 'text' && list !== true && length <= 255 ? length * 4 : 0,
  );
  if (boundedTextMaxBytes !== null && bounded > boundedTextMaxBytes) return false;
  return inRow === null || sum((type) => inRow.bytesOf(type)) <= inRow.maxBytes;
}

function unbounded(column: Column): Column['type'] {
  return column.type.kind === 'text' && !column.type.list ? { kind: 'text' } : column.type;
}

// Converts the model's logical names to the physical names of one database.

export interface PhysicalTableNames {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * Returns a name unchanged if the dialect supports it. Otherwise, replaces refused characters by underscores, truncates a long name, and
 * appends a hash of the whole name, so that different names remain different.
 */
export function physicalName(
  dialect: Pick<Dialect, 'identifierMaxBytes' | 'refusedCharacters'>,
  name: string,
): string {
  const refused = dialect.refusedCharacters;
  const isClean = refused === null || !refused.test(name);
  const clean = isClean ? name : name.replaceAll(new RegExp(refused.source, 'gu'), '_');
  if (clean === name && byteLength(name) <= dialect.identifierMaxBytes) return name;
  return `${truncateToBytes(clean, dialect.identifierMaxBytes - 9)}_${stableHash(name)}`;
}

/** Returns the name of another object of a model, beside its tables and columns. It is no longer than the model's own names. */
export function modelName({ nameMaxLength }: Pick<RelationalModel, 'nameMaxLength'>, name: string): string {
  return physicalName({ identifierMaxBytes: nameMaxLength, refusedCharacters: null }, name);
}

/** Names of all tables and columns in that dialect, in the model's order; of a large model, when they are looked at. */
export function physicalNames(model: RelationalModel, dialect: Dialect): PhysicalTableNames[] {
  return lazyArray(model.tables.length, (index) => {
    const table = model.tables[index]!;
    let columns: readonly string[] | null = null;
    return {
      name: physicalName(dialect, table.name),
      get columns() {
        return (columns ??= table.columns.map((column) => physicalName(dialect, column.name)));
      },
    };
  });
}

// The number of digits after the point with which values of a type are written, regardless of the target column's present scale.

const wholeNumbers: ReadonlySet<ColumnType['kind']> = new Set(['smallint', 'integer', 'bigint']);

/** Returns the least number of digits, which a value may exceed, or null if the type has no such digits. */
export function fractionDigits(type: ColumnType | undefined): number | null {
  if (type === undefined) return null;
  if (wholeNumbers.has(type.kind)) return 0;
  return type.kind === 'numeric' ? (type.scale ?? 0) : null;
}
