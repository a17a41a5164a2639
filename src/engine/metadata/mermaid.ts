/** Writes an entity-relationship diagram for Mermaid, whose grammar allows few characters in names. Other characters become underscores. */
import { mapInSlices } from '../in-slices.ts';
import { truncateToBytes } from '../map/names/identifiers.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';
import { plainNamesOf } from './names.ts';

const longestComment = 120;

/** Returns the diagram in pieces. */
export async function mermaidDiagram(model: DescribedModel): Promise<readonly string[]> {
  const entities = new Map<string, string>();
  const taken = new Set<string>();
  for (const { name } of model.tables) {
    let entity = name.replaceAll(/[^\p{L}\p{M}\p{N} _.-]/gu, '_');
    while (taken.has(entity)) entity += '_';
    taken.add(entity);
    entities.set(name, entity);
  }
  const boxes = await mapInSlices(model.tables, (table) => entityBlock(entities.get(table.name)!, table));
  const lines = await mapInSlices(model.tables, (table) => relationLines(entities, table));
  const head = `---\ntitle: ${JSON.stringify(plainText(model.name))}\n---\nerDiagram\n`;
  return [head, ...boxes, ...lines];
}

function entityBlock(entity: string, table: DescribedTable): string {
  const foreign = new Set(table.references.map(({ column }) => column));
  const unique = new Set(table.uniqueKeys.flatMap(({ columns }) => (columns.length === 1 ? columns : [])));
  const names = plainNamesOf(
    table.columns.map(({ name }) => name),
    { allScripts: true },
  );
  const lines = table.columns.map((column) => {
    const keys = [
      ...(table.primaryKey.includes(column.name) ? ['PK'] : []),
      ...(foreign.has(column.name) ? ['FK'] : []),
      ...(unique.has(column.name) ? ['UK'] : []),
    ].join(', ');
    const name = attributeName(names.get(column.name)!);
    return `    ${[typeWord(column.type), name, keys, comment(column, name)].filter((part) => part !== '').join(' ')}\n`;
  });
  return `  "${entity}" {\n${lines.join('')}  }\n`;
}

/** PK, FK and UK are keys in the diagram if they are separate words. */
function attributeName(name: string): string {
  return /^(?:pk|fk|uk)(?![A-Za-z0-9_])/i.test(name) ? `_${name}` : name;
}

/** Returns the original name, if it was changed, and the meaning of the column. */
function comment({ name, documentation }: DescribedColumn, shown: string): string {
  const text = [...(name === shown ? [] : [name]), ...(documentation === '' ? [] : [documentation])].join(
    ': ',
  );
  if (text === '') return '';
  const short = text.length <= longestComment ? text : `${truncateToBytes(text, longestComment)}…`;
  return `"${plainText(short)}"`;
}

/**
 * Returns the text for quotes, in which nothing can be escaped. Characters that pages or diagrams would interpret are written by their
 * names, after a `#`.
 */
function plainText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u{2028}\u{2029}]/gu, ' ')
    .replaceAll('#', '#35;')
    .replaceAll('"', '#quot;')
    .replaceAll('<', '#lt;')
    .replaceAll('>', '#gt;')
    .replaceAll('\\', '#92;')
    .replaceAll('%', '#37;');
}

function relationLines(entities: ReadonlyMap<string, string>, table: DescribedTable): string {
  const nullable = new Set(table.columns.flatMap(({ name, nullable }) => (nullable ? [name] : [])));
  return table.references
    .map(({ column, parentTable, single }) => {
      const parent = nullable.has(column) ? '|o' : '||';
      const label = plainText(column);
      return `  "${entities.get(parentTable)!}" ${parent}--${single ? 'o|' : 'o{'} "${entities.get(table.name)!}" : "${label}"\n`;
    })
    .join('');
}

function typeWord({ kind, length, fixed, precision, scale = 0, list }: ColumnType): string {
  const sized =
    kind === 'text' && length !== undefined
      ? `${fixed === true ? 'char' : 'varchar'}(${length})`
      : kind === 'numeric' && precision !== undefined
        ? `numeric(${precision},${scale})`
        : kind;
  return list === true ? `${sized}[]` : sized;
}
