/** The tables in DBML (dbdiagram.io, dbdocs.io): notes, keys, references, and a type for enumerated values. */
import { mapInSlices } from '../in-slices.ts';
import { postgresql } from '../sql/dialects/postgresql.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';

/** Returns the document in pieces. */
export async function dbmlDocument(model: DescribedModel): Promise<readonly string[]> {
  const taken = new Set<string>();
  const enums = new Map<string, string>();
  const enumOf = (table: DescribedTable, column: DescribedColumn): string | null => {
    const { name, type, enumeration, saidOfValues } = column;
    // a value without a character has no name
    if (enumeration === null || type.kind !== 'text' || type.list === true || enumeration.includes(''))
      return null;
    const values = enumeration
      .map((value) => {
        const said = saidOfValues.get(value);
        return `  ${named(value)}${said === undefined ? '' : ` [note: ${text(said)}]`}\n`;
      })
      .join('');
    const known = enums.get(values);
    if (known !== undefined) return known;
    let own = `${table.name}_${name}`;
    while (taken.has(own)) own += '_';
    taken.add(own);
    enums.set(values, named(own));
    return named(own);
  };
  const tables = await mapInSlices(model.tables, (table) => tableBlock(table, enumOf));
  const references = await mapInSlices(model.tables, referenceLines);
  const project = `Project ${named(model.name)} {\n  Note: ${text(`Tables of ${model.name}, version ${model.version}`)}\n}\n`;
  const types = [...enums].map(([values, name]) => `Enum ${name} {\n${values}}\n`);
  return [project, ...[...types, ...tables].map((block) => `\n${block}`), '\n', ...references];
}

function tableBlock(
  table: DescribedTable,
  enumOf: (table: DescribedTable, column: DescribedColumn) => string | null,
): string {
  const columns = table.columns.map((column) => {
    const { name, nullable, description } = column;
    const isOwnKey = table.primaryKey.length === 1 && table.primaryKey[0] === name;
    const isUnique = table.uniqueKeys.some(({ columns }) => columns.length === 1 && columns[0] === name);
    const settings = [
      ...(isOwnKey ? ['pk'] : []),
      ...(nullable ? [] : ['not null']),
      ...(isUnique ? ['unique'] : []),
      `note: ${text(description)}`,
    ];
    return `  ${named(name)} ${enumOf(table, column) ?? named(postgresql.typeName(column.type))} [${settings.join(', ')}]\n`;
  });
  const keys = [
    ...(table.primaryKey.length > 1 ? [`    (${table.primaryKey.map(named).join(', ')}) [pk]\n`] : []),
    ...table.uniqueKeys
      .filter((key) => key.columns.length > 1)
      .map((key) => `    (${key.columns.map(named).join(', ')}) [unique, name: ${text(key.name)}]\n`),
  ];
  const indexes = keys.length === 0 ? '' : `\n  indexes {\n${keys.join('')}  }\n`;
  return `Table ${named(table.name)} {\n${columns.join('')}${indexes}\n  Note: ${text(table.description)}\n}\n`;
}

function referenceLines({ name, references }: DescribedTable): string {
  return references
    .map(
      ({ column, parentTable, parentColumn, single }) =>
        `Ref: ${named(name)}.${named(column)} ${single ? '-' : '>'} ${named(parentTable)}.${named(parentColumn)}\n`,
    )
    .join('');
}

/** Returns a name or a value in double quotes, with backslash escapes. */
function named(name: string): string {
  return `"${escaped(name).replaceAll('"', '\\"')}"`;
}

function text(value: string): string {
  return `'${escaped(value).replaceAll("'", "\\'")}'`;
}

function escaped(value: string): string {
  return value
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .replaceAll('\\', '\\\\');
}
