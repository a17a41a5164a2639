/** Rows of a shredded text as a loaded table would give them back: what writing back reads, without a database. */
import type { Column } from '../../../src/engine/model/relational-model.ts';
import type {
  DocumentRows,
  LexicalRow,
  RowBlocks,
  RowStream,
  UnmappedRow,
} from '../../../src/engine/unshred/rows/document-rows.ts';
import { textBlock, type TextRow } from '../../../src/engine/unshred/rows/values.ts';
import type { Shredded } from '../models/shredding.ts';

export function memoryDocumentRows({ model, rows, unconvertedValues }: Shredded): DocumentRows {
  const unconvertedTexts = new Map(
    unconvertedValues.map(({ table, column, rowKey, text }) => [`${table}/${column}/${rowKey}`, text]),
  );
  const table = (index: number): TextRow[] => {
    const { name, columns } = model.tables[index]!;
    const keyColumn = columns.findIndex((column) => column.role === 'row_key');
    return (rows[name] ?? [])
      .map((row) => {
        const key = row[columns[keyColumn]!.name];
        return columns.map(
          (column, at) =>
            unconvertedTexts.get(`${index}/${at}/${key}`) ?? lexicalForm(column, row[column.name]!),
        );
      })
      .toSorted((a, b) => Number(a[keyColumn]) - Number(b[keyColumn]));
  };
  const lexical = new Map<string, LexicalRow[]>();
  for (const row of rows['_lexical'] ?? []) {
    const entry = { rowKey: row['row_key']!, columnName: row['column_name']!, content: row['content']! };
    append(lexical, row['table_name']!, entry);
  }
  const unmapped = new Map<string, UnmappedRow[]>();
  for (const row of rows['_unmapped'] ?? []) {
    append(unmapped, row['parent_table']!, {
      parentKey: row['parent_key']!,
      position: Number(row['position']),
      xpath: row['xpath']!,
      kind: row['kind']!,
      content: row['content']!,
    });
  }
  return {
    table: async (index) => blocks(table(index), model.tables[index]!.columns.length),
    lexical: async (index) =>
      stream(
        lexical.get(model.tables[index]!.name)?.toSorted((a, b) => Number(a.rowKey) - Number(b.rowKey)) ?? [],
      ),
    unmapped: async (index) =>
      stream(
        unmapped
          .get(index === null ? '_documents' : model.tables[index]!.name)
          ?.toSorted((a, b) => Number(a.parentKey) - Number(b.parentKey)) ?? [],
      ),
  };
}

function append<Value>(lists: Map<string, Value[]>, name: string, value: Value): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [value]);
  else list.push(value);
}

/** Of few rows each. */
function blocks(rows: readonly TextRow[], columns: number): RowBlocks | null {
  let at = 0;
  return rows.length === 0
    ? null
    : {
        async next() {
          const some = rows.slice(at, (at += 3));
          return some.length === 0 ? null : textBlock(some, columns);
        },
      };
}

function stream<Row>(rows: readonly Row[]): RowStream<Row> | null {
  let at = 0;
  return rows.length === 0
    ? null
    : {
        get head() {
          return rows[at] ?? null;
        },
        advance() {
          at += 1;
          return undefined;
        },
      };
}

/** What the column's type makes of a field of COPY: the forms of XSD. */
function lexicalForm(column: Column, field: string | null): string | null {
  if (field === null) return null;
  const { type } = column;
  if (!type.list) return scalarForm(type.kind, field);
  const items = field.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return items
    .map((item) =>
      item.startsWith('"') ? item.slice(1, -1).replace(/\\(.)/g, '$1') : scalarForm(type.kind, item),
    )
    .join(' ');
}

function scalarForm(kind: Column['type']['kind'], field: string): string {
  if (kind === 'boolean') return field === 't' ? 'true' : 'false';
  if (kind === 'timestamptz') return inUtc(field);
  return kind === 'real' || kind === 'double' ? field.replace('Infinity', 'INF') : field;
}

/** Databases know the instant alone. */
function inUtc(field: string): string {
  const [, minute, second, offset] = /^(.{16})(:[\d.]+)([+-]\d\d:\d\d)$/.exec(field) ?? [];
  if (minute === undefined) return field;
  return `${new Date(`${minute}:00${offset}`).toISOString().slice(0, -8)}${second}Z`;
}
