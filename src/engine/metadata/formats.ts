/** The registry of formats that describe tables for other tools, with the writers of the shorter ones. */
import { mapInSlices } from '../in-slices.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';
import { plainNames, plainNamesOf } from './names.ts';
import { postgresql } from '../sql/dialects/postgresql.ts';
import { truncateToBytes } from '../map/names/identifiers.ts';
import { dbtProject, type ProjectFile, odcsContract } from './dbt.ts';
import { dataPackage } from './frictionless.ts';

// Avro schemas of the rows: one list of records, one for each table. The list is a schema itself (a union).

/** Returns the schemas in pieces. */
async function avroSchemas(model: DescribedModel): Promise<readonly string[]> {
  const namespace = plainNames([model.name])[0]!;
  const names = plainNamesOf(model.tables.map(({ name }) => name));
  const records = await mapInSlices(model.tables, (table, at) => {
    const text = JSON.stringify([record(table, names.get(table.name)!, namespace)], null, 2).slice(2, -2);
    return `${at === 0 ? '' : ',\n'}${text}`;
  });
  return ['[\n', ...records, '\n]\n'];
}

function record(table: DescribedTable, name: string, namespace: string): object {
  const names = plainNamesOf(table.columns.map((column) => column.name));
  return {
    type: 'record',
    name,
    namespace,
    doc: table.description,
    ...(name === table.name ? {} : { table: table.name }),
    fields: table.columns.map((column) => field(column, names.get(column.name)!)),
  };
}

/** `column`: the original name if it is not allowed in Avro; `values`: all possible values. */
function field({ name, type, nullable, description, enumeration }: DescribedColumn, shown: string): object {
  const { list, ...item } = type;
  const value = list === true ? { type: 'array', items: valueType(item) } : valueType(item);
  return {
    name: shown,
    doc: description,
    type: nullable ? ['null', value] : value,
    ...(nullable ? { default: null } : {}),
    ...(shown === name ? {} : { column: name }),
    ...(enumeration === null ? {} : { values: enumeration }),
  };
}

/** A number without bounds is a text: the scale of Avro's decimals is part of the type. */
function valueType({ kind, precision, scale = 0 }: ColumnType): string | object {
  switch (kind) {
    case 'text':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'smallint':
    case 'integer':
      return 'int';
    case 'bigint':
      return 'long';
    case 'numeric':
      return precision === undefined ? 'string' : { type: 'bytes', logicalType: 'decimal', precision, scale };
    case 'real':
      return 'float';
    case 'double':
      return 'double';
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
      return { type: 'long', logicalType: 'local-timestamp-micros' };
    case 'timestamptz':
      return { type: 'long', logicalType: 'timestamp-micros' };
  }
}

// The tables in DBML (dbdiagram.io, dbdocs.io): notes, keys, references, and a type for each set of enumerated values.

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

// JSON Schema, draft 2020-12, of the rows as JSON: one definition for each table.

type Schema = Readonly<Record<string, unknown>>;

/** Returns the schema in pieces. It describes a database as one object: for each table a list of its rows. */
async function jsonSchema(model: DescribedModel): Promise<readonly string[]> {
  const definitions = await mapInSlices(
    model.tables,
    (table, at) =>
      `${at === 0 ? '' : ',\n'}    ${JSON.stringify(table.name)}: ${indented(JSON.stringify(rowSchema(table), null, 2), 4)}`,
  );
  const lists = await mapInSlices(model.tables, ({ name }, at) => {
    const rows = { type: 'array', items: { $ref: `#/$defs/${pointer(name)}` } };
    return `${at === 0 ? '' : ',\n'}    ${JSON.stringify(name)}: ${JSON.stringify(rows)}`;
  });
  const title = JSON.stringify(`Tables of ${model.name}, version ${model.version}`);
  return [
    `{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n  "title": ${title},\n  "type": "object",\n`,
    '  "properties": {\n',
    ...lists,
    '\n  },\n  "$defs": {\n',
    ...definitions,
    '\n  }\n}\n',
  ];
}

/** A name as a step of a JSON Pointer in a fragment (RFC 6901). */
function pointer(name: string): string {
  return encodeURIComponent(name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}

function rowSchema(table: DescribedTable): Schema {
  return {
    type: 'object',
    description: table.description,
    properties: Object.fromEntries(table.columns.map((column) => [column.name, columnSchema(column)])),
    required: table.columns.flatMap(({ name, nullable }) => (nullable ? [] : [name])),
    additionalProperties: false,
  };
}

function columnSchema({ type, nullable, description, enumeration }: DescribedColumn): Schema {
  const { list, ...item } = type;
  const value = valueSchema(item, enumeration);
  const schema: Schema = list === true ? { type: 'array', items: value } : value;
  return { description, ...(nullable ? orNull(schema) : schema) };
}

function orNull({ type, enum: values, ...rest }: Schema): Schema {
  return {
    ...(type === undefined ? {} : { type: [...[type].flat(), 'null'] }),
    ...(values === undefined ? {} : { enum: [...(values as readonly unknown[]), null] }),
    ...rest,
  };
}

const bits: Readonly<Partial<Record<ColumnType['kind'], number>>> = { smallint: 16, integer: 32 };

function valueSchema({ kind, length, fixed }: ColumnType, enumeration: readonly string[] | null): Schema {
  switch (kind) {
    case 'text':
      if (enumeration !== null) return { type: 'string', enum: enumeration };
      return {
        type: 'string',
        ...(fixed === true ? { minLength: length } : {}),
        ...(length === undefined ? {} : { maxLength: length }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'smallint':
    case 'integer':
    case 'bigint': {
      const size = bits[kind];
      const bounds = size === undefined ? {} : { minimum: -(2 ** (size - 1)), maximum: 2 ** (size - 1) - 1 };
      return { type: 'integer', ...bounds };
    }
    case 'numeric':
      return { type: 'number' };
    case 'real':
    case 'double':
      // special values, for which JSON has no number, are texts
      return { type: ['number', 'string'], pattern: '^(INF|-INF|\\+INF|NaN)$' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'timestamptz':
      return { type: 'string', format: 'date-time' };
    case 'time':
    case 'timestamp':
      return { type: 'string', $comment: `${kind}, without a zone` };
  }
}

// An entity-relationship diagram for Mermaid. Its grammar allows few characters in names; others become underscores.

const longestComment = 120;

/** Returns the diagram in pieces. */
async function mermaidDiagram(model: DescribedModel): Promise<readonly string[]> {
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

// The registry.

export const exportFormats = [
  'dbt',
  'odcs',
  'mermaid',
  'dbml',
  'frictionless',
  'jsonschema',
  'avro',
] as const;
export type ExportFormat = (typeof exportFormats)[number];

interface Specification {
  /** follows the name of the schema in the name of the file */
  readonly ending: string;
  /** the first one is returned unless the client asks for another */
  readonly mediaTypes: readonly [string, ...string[]];
}

/** A text is made in pieces; an archive of its files. */
type Makes =
  | { readonly kind: 'text'; make(model: DescribedModel): Promise<readonly string[]> }
  | { readonly kind: 'files'; make(model: DescribedModel): Promise<readonly ProjectFile[]> };

export const formatSpecifications: Readonly<Record<ExportFormat, Specification & Makes>> = {
  dbt: { ending: '-dbt.zip', mediaTypes: ['application/zip'], kind: 'files', make: dbtProject },
  odcs: { ending: '.odcs.yaml', mediaTypes: ['application/yaml'], kind: 'text', make: odcsContract },
  mermaid: { ending: '.mmd', mediaTypes: ['text/plain; charset=utf-8'], kind: 'text', make: mermaidDiagram },
  dbml: { ending: '.dbml', mediaTypes: ['text/plain; charset=utf-8'], kind: 'text', make: dbmlDocument },
  frictionless: {
    ending: '.datapackage.json',
    mediaTypes: ['application/json'],
    kind: 'text',
    make: packageOfTables,
  },
  jsonschema: {
    ending: '.schema.json',
    mediaTypes: ['text/plain; charset=utf-8', 'application/json', 'application/schema+json'],
    kind: 'text',
    make: jsonSchema,
  },
  avro: {
    ending: '.avsc',
    mediaTypes: ['text/plain; charset=utf-8', 'application/json', 'application/vnd.apache.avro+json'],
    kind: 'text',
    make: avroSchemas,
  },
};

/** Describes a folder of CSV files, with each table in the file that a first load writes. */
function packageOfTables(model: DescribedModel): Promise<readonly string[]> {
  const { name, version, tables } = model;
  const pieces = dataPackage(
    { name, title: `Tables of ${name}, version ${version}`, format: 'csv' },
    tables.map((table) => ({
      name: table.name,
      describe: () => table,
      files: [{ path: `${encodedName(table.name)}.csv` }],
    })),
  );
  return mapInSlices(pieces, (piece) => piece);
}

/** Percent-encodes all characters except letters, digits, `_` and `-`. */
function encodedName(table: string): string {
  return table
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, (character) =>
      [...new TextEncoder().encode(character)]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
        .join(''),
    );
}
