/**
 * A relational model written by hand, with what makes DDL and targets hard: recursion, a circle of two tables, a shared table
 * with two nullable parent keys, a text table, list columns, a natural key, names with quotes, backslashes and an emoji.
 */
import { firstTableIsRoot } from '../../../support/models/first-table.ts';
import type {
  Column,
  ColumnType,
  RelationalModel,
  Table,
} from '../../../../src/engine/model/relational-model.ts';

const bigint: ColumnType = { kind: 'bigint' };

function column(name: string, type: ColumnType, more: Partial<Column> = {}): Column {
  return {
    name,
    role: 'value',
    type,
    nullable: true,
    xpath: `/library/${name}`,
    path: `/library/${name}`,
    sourceType: 'string',
    references: null,
    ...more,
  };
}

const structure = { xpath: null, sourceType: null } as const;
const rowKey = (name: string): Column =>
  column(name, bigint, { ...structure, role: 'row_key', nullable: false });
const parentKey = (name: string, references: number, nullable = false): Column =>
  // as of rows that hang from the head of their group, whose comments do not say which element they are
  column(name, bigint, { ...structure, role: 'parent_key', references, nullable, path: '/library/(head)' });
/** A list of a table: `listNames` as a drawn model has them. */
const list = (owner: string, name: string): Partial<Column> => ({
  listNames: { count: `${name}_count`, table: `${owner}_${name}` },
});
const position = (nullable = false): Column =>
  column('position', { kind: 'integer' }, { ...structure, role: 'position', nullable });

function table(name: string, columns: readonly Column[], more: Partial<Table> = {}): Table {
  const xpath = `/library/${name}`;
  return { name, kind: 'element', xpath, path: xpath, columns, uniqueKeys: [], ...more };
}

/** indexes of the tables */
export const at = {
  library: 0,
  book: 1,
  person: 2,
  section: 3,
  sectionText: 4,
  group: 5,
  note: 6,
  odd: 7,
} as const;

export const oddTable = 'odd "name" 😀';
export const oddColumns = ["it's", 'a]b', 'back`tick', 'back\\slash', 'per%cent', 'select'] as const;

/** Written by hand: rows of root elements alone name their document. */
export const libraryModel: RelationalModel = {
  mapLevel: 3,
  nameMaxLength: 63,
  ...firstTableIsRoot('', 'library'),
  mappings: [],
  namespaces: {},
  tables: [
    table(
      'library',
      [
        rowKey('library_key'),
        column('document_key', bigint, { ...structure, role: 'document', nullable: true }),
        column('name', { kind: 'text', length: 80 }, { nullable: false }),
        column('founded', { kind: 'date' }),
        column('opened_at', { kind: 'timestamptz' }),
        column('is_public', { kind: 'boolean' }),
      ],
      {
        xpath: '/library',
        documentation: "The library's own row;\n-- DROP TABLE \"x\"; */ {braces} \\ 'quoted'",
      },
    ),
    table(
      'book',
      [
        rowKey('book_key'),
        parentKey('library_key', at.library),
        position(),
        column('isbn', { kind: 'text', length: 17 }, { nullable: false, xpath: '/library/book/@isbn' }),
        column('title', { kind: 'text' }, { nullable: false }),
        column('price', { kind: 'numeric', precision: 10, scale: 2 }),
        column('weight', { kind: 'numeric' }),
        column('pages', { kind: 'integer' }),
        column('volume', { kind: 'smallint' }),
        column('score', { kind: 'double' }),
        column('rating', { kind: 'real' }),
        column('closes', { kind: 'time' }),
        column('printed', { kind: 'timestamp' }),
        column('keywords', { kind: 'text', list: true }, list('book', 'keywords')),
        column('years', { kind: 'integer', list: true }, { nullable: false, ...list('book', 'years') }),
        column('serial', { kind: 'numeric', precision: 60, scale: 0 }),
      ],
      {
        uniqueKeys: [
          { name: 'book_isbn', columns: [3] },
          { name: 'book_title', columns: [4, 7] },
        ],
      },
    ),
    table('person', [
      rowKey('person_key'),
      parentKey('library_key', at.library, true),
      parentKey('book_key', at.book, true),
      position(),
      column('name', { kind: 'text' }),
      column('born', { kind: 'date' }),
    ]),
    table('section', [
      rowKey('section_key'),
      parentKey('book_key', at.book, true),
      parentKey('parent_section_key', at.section, true),
      position(),
      column('heading', { kind: 'text' }),
    ]),
    table(
      'section_text',
      [
        rowKey('section_text_key'),
        parentKey('section_key', at.section),
        position(),
        column('content', { kind: 'text' }, { role: 'content', xpath: '/library/book/section' }),
      ],
      { kind: 'text' },
    ),
    table('group', [
      rowKey('group_key'),
      parentKey('library_key', at.library, true),
      parentKey('note_key', at.note, true),
      position(),
      column('label', { kind: 'text' }),
    ]),
    table('note', [
      rowKey('note_key'),
      parentKey('group_key', at.group),
      position(),
      column('label', { kind: 'text' }),
    ]),
    table(oddTable, [
      rowKey('odd_key'),
      parentKey('library_key', at.library),
      position(),
      ...oddColumns.map((name) => column(name, { kind: 'text' })),
    ]),
  ],
};
