/**
 * Stores lists of values in databases without suitable arrays (docs/decisions/model/list-tables.md): each list has a separate table with
 * a row for each item.
 *
 * This is a step from the model to the DDL of one dialect, and not part of the model: rows are made once for all databases, and the
 * targets that rows are written to and read from have arrays. Plans, mappings and rows therefore do not depend on it.
 */
import { defaultNaming, shortenName, structureWord } from '../map/names/identifiers.ts';
import { withOtherParts } from '../model/packed/models.ts';
import { hasKeyUndecoded } from '../model/packed/reader.ts';
import type { Column, RelationalModel, Table } from '../model/relational-model.ts';
import { hasOwnPrefix } from '../model/side-tables.ts';
import type { Dialect } from './dialect.ts';

/** The table of one list column. Its columns: row key, parent key, position from 1, the item. */
export interface ListTable {
  /** index of the table that the column is of, and of the column there */
  readonly owner: number;
  readonly column: number;
  /** index of the list's table; null: the column remains an array, with only its count beside it */
  readonly table: number | null;
}

export interface ModelOfLists {
  /** the tables of the model under their indexes, then those of lists; a table's columns change at the end alone */
  readonly model: RelationalModel;
  readonly lists: readonly ListTable[];
}

/**
 * Replaces a list column by the number of its items: NULL if the list is absent, 0 if it is empty. Rows in another table could not
 * distinguish the two. If the database's arrays cannot be NULL, the array remains and the number is added.
 */
export function withListTables(model: RelationalModel, dialect: Dialect): ModelOfLists {
  const { arrays, nullArrays } = dialect.capabilities;
  if (arrays && nullArrays) return { model, lists: [] };
  const tables: Table[] = [];
  const own: Table[] = [];
  const lists: ListTable[] = [];
  for (const [owner, table] of model.tables.entries()) {
    if (hasKeyUndecoded(table, 'columns', 'list') === false) {
      tables.push(table);
      continue;
    }
    const counted = table.columns.flatMap(({ type, nullable }, at) =>
      type.list === true && (!arrays || nullable) ? [at] : [],
    );
    if (counted.length === 0) {
      tables.push(table);
      continue;
    }
    const columns = [...table.columns];
    for (const at of counted) {
      const list = table.columns[at]!;
      const count = countColumn(list);
      if (arrays) {
        columns.push(count);
        lists.push({ owner, column: at, table: null });
        continue;
      }
      columns[at] = count;
      lists.push({ owner, column: at, table: model.tables.length + own.length });
      own.push(listTable(model, owner, list));
    }
    // a key over a list no longer has a single column; the table's comment states that it is declared
    const uniqueKeys = arrays
      ? table.uniqueKeys
      : table.uniqueKeys.filter((key) => !key.columns.some((at) => counted.includes(at)));
    tables.push({ ...table, columns, uniqueKeys });
  }
  return { model: withOtherParts(model, { tables: [...tables, ...own] }), lists };
}

/** Returns the beginning of the comment on a list's table, before the column: the table that has the list. */
export function listItemsOf(owner: string): string {
  return `items of the list ${owner}`;
}

function countColumn(list: Column): Column {
  return {
    ...list,
    name: list.listNames!.count,
    type: { kind: 'integer' },
    documentation: list.nullable ? 'number of items, NULL if the list is absent' : 'number of items',
  };
}

function listTable(model: RelationalModel, owner: number, list: Column): Table {
  const parent = model.tables[owner]!;
  const path = list.xpath ?? `${parent.xpath}/${list.name}`;
  const name = list.listNames!.table;
  const parentKey = parent.columns.find(({ role }) => role === 'row_key')!.name;
  const columns = new Set<string>();
  const of = (wanted: string): string => freeName(model, wanted, path, columns);
  const structure = { nullable: false, xpath: null, path: '', sourceType: null } as const;
  const { list: _, ...item } = list.type;
  return {
    name,
    kind: 'element',
    xpath: path,
    path: list.path,
    documentation: `${listItemsOf(parent.name)}.${list.name}`,
    columns: [
      {
        ...structure,
        name: of(`${name}_${word(model, 'key')}`),
        role: 'row_key',
        type: { kind: 'bigint' },
        references: null,
      },
      {
        ...structure,
        name: of(parentKey),
        path: list.path,
        role: 'parent_key',
        type: { kind: 'bigint' },
        references: owner,
      },
      {
        ...structure,
        name: of(word(model, 'position')),
        role: 'position',
        type: { kind: 'integer' },
        references: null,
      },
      { ...list, name: of(list.name), type: item, nullable: false },
    ],
    uniqueKeys: [],
  };
}

function word(model: RelationalModel, text: string): string {
  return structureWord(text, model.options?.nameMode ?? defaultNaming.nameMode);
}

/** Returns a name within the model's limit that is not one of `taken`, and adds it to them. */
function freeName(model: RelationalModel, wanted: string, path: string, taken: Set<string>): string {
  const own = hasOwnPrefix(wanted) ? wanted.replace(/^_+/, '') : wanted;
  const short = shortenName(own, path, model.nameMaxLength);
  let name = short;
  for (let number = 2; taken.has(name.toLowerCase()); number += 1)
    name = shortenName(`${own}_${number}`, `${path} ${number}`, model.nameMaxLength);
  taken.add(name.toLowerCase());
  return name;
}
