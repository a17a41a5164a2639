/**
 * Metadata in YAML: a dbt project, and an Open Data Contract. In the dbt project the loaded tables are the source, with tests for keys,
 * references and enumerated values, and each has a staging model with names that need no quotes. Expressions of Jinja quote for the
 * database that the project runs on.
 */
import { mapInSlices } from '../in-slices.ts';
import { bareTypeName, postgresql } from '../sql/dialects/postgresql.ts';
import { physicalName } from '../sql/physical-model.ts';
import type { DescribedColumn, DescribedModel, DescribedReference, DescribedTable } from './described.ts';
import { plainNames, plainNamesOf, isPlainName } from './names.ts';
import { stableHash } from '../map/names/identifiers.ts';
import type { ColumnType } from '../model/relational-model.ts';

// YAML 1.2 in block style, in a form that readers of YAML 1.1 read in the same way.

type YamlValue =
  | string
  | number
  | boolean
  | null
  | readonly YamlValue[]
  | { readonly [name: string]: YamlValue | undefined };

/** A whole value, its lines `indent` columns in; ends with a line end. Members that are undefined are left out. */
export function yaml(value: YamlValue, indent = 0): string {
  if (isList(value) && value.length > 0) return value.map((item) => yamlItem(item, indent)).join('');
  const members = membersOf(value);
  if (members.length === 0) return `${' '.repeat(indent)}${inline(value)}\n`;
  return members.map(([name, member]) => ' '.repeat(indent) + entry(name, member, indent)).join('');
}

/** One item of a list, so that a long list can be written item by item. */
function yamlItem(item: YamlValue, indent: number): string {
  const lead = `${' '.repeat(indent)}- `;
  // the first line of the item's content follows the dash
  return isBlock(item) ? lead + yaml(item, indent + 2).slice(indent + 2) : `${lead}${inline(item)}\n`;
}

function entry(name: string, member: YamlValue, indent: number): string {
  if (!isBlock(member)) return `${text(name)}: ${inline(member)}\n`;
  return `${text(name)}:\n${yaml(member, indent + 2)}`;
}

function isList(value: YamlValue): value is readonly YamlValue[] {
  return Array.isArray(value);
}

function membersOf(value: YamlValue): (readonly [string, YamlValue])[] {
  if (typeof value !== 'object' || value === null || isList(value)) return [];
  return Object.entries(value).filter((member): member is [string, YamlValue] => member[1] !== undefined);
}

function isBlock(value: YamlValue): boolean {
  return isList(value) ? value.length > 0 : membersOf(value).length > 0;
}

function inline(value: YamlValue): string {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'object' && value !== null) return isList(value) ? '[]' : '{}';
  return String(value);
}

/** Words that some version of YAML does not interpret as text. */
const reserved = /^(?:true|false|null|yes|no|on|off|y|n|nan|inf)$/i;

/** The characters that YAML cannot hold unescaped, or treats as line ends. JSON escapes the others. */
const unprintable = /[\u{7F}-\u{9F}\u{2028}\u{2029}\u{FEFF}\u{FFFE}\u{FFFF}]/gu;

/** Writes a text in double quotes, which are correct for any content, unless it consists of words alone. */
function text(value: string): string {
  if (/^[A-Za-z][\w-]*(?: [\w-]+)*$/.test(value) && !reserved.test(value)) return value;
  return JSON.stringify(value.toWellFormed()).replaceAll(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// The dbt project.

export interface ProjectFile {
  /** path within the project */
  readonly name: string;
  /** content in pieces */
  readonly content: readonly string[];
}

/** The names that expressions use for tables: the source's name, and the name of each table's entry in it. */
interface Source {
  readonly name: string;
  readonly tables: ReadonlyMap<string, string>;
}

/** The longest name of a view in PostgreSQL; dbt refuses longer ones. */
const longestModelName = 63;

export async function dbtProject(model: DescribedModel): Promise<readonly ProjectFile[]> {
  const project = plainNames([model.name], { maxBytes: 50 })[0]!.toLowerCase();
  const source: Source = {
    name: project,
    // dbt itself writes these between quotes
    tables: plainNamesOf(
      model.tables.map(({ name }) => name),
      { allScripts: true },
    ),
  };
  const stages = plainNames(
    model.tables.map(({ name }) => `stg_${name.replace(/^_+/, '')}`),
    { maxBytes: longestModelName },
  );
  const tables = await mapInSlices(model.tables, (table) => yamlItem(sourceTable(source, table), 6));
  const staging = await mapInSlices(model.tables, (table, index) => ({
    name: `models/staging/${stages[index]!.toLowerCase()}.sql`,
    content: [stagingModel(source, table)],
  }));
  return [
    { name: 'dbt_project.yml', content: [yaml(projectFile(project))] },
    { name: 'profiles.yml', content: [profiles(project)] },
    {
      name: 'models/sources.yml',
      content: [
        `${yaml({ version: 2 })}sources:\n${yamlItem(
          {
            name: project,
            description: rendered(`Tables of ${model.name}, version ${model.version}`),
            schema: "{{ var('source_schema', target.schema) }}",
            quoting: { schema: true, identifier: true },
          },
          2,
        )}    tables:\n`,
        ...tables,
      ],
    },
    { name: 'macros/loaded.sql', content: [loadedMacros] },
    ...staging,
    ...keyTests(source, model),
  ];
}

/**
 * A load makes the tables that it has rows for. `_documents` is among them always: a wrong place of the tables does not pass for one
 * without rows.
 */
const loadedMacros = `{#- A load makes the tables that have rows, and _documents: those that are not there are read as without rows. -#}
{%- macro is_missing(table) -%}
  {{ return(
    execute and table is not string and table.identifier != '_documents'
    and '"' not in table.identifier and load_relation(table) is none
  ) }}
{%- endmacro -%}

{%- macro loaded(table) -%}
  {%- if not is_missing(table) -%}
    {{ table }}
  {%- else -%}
    {%- set node = graph.sources.values() | selectattr('relation_name', 'equalto', table | string) | first -%}
    (select {% for column in node.columns.values() -%}
      cast(null as {{ column.data_type }}) as {{ adapter.quote(column.name) }}{{ ', ' if not loop.last }}
    {%- endfor %} where false) as no_rows
  {%- endif -%}
{%- endmacro -%}

{%- test unique(model, column_name) -%}
  {%- if is_missing(model) -%} select 1 as no_row where false
  {%- else -%} {{ adapter.dispatch('test_unique', 'dbt')(model, column_name) }} {%- endif -%}
{%- endtest -%}

{%- test not_null(model, column_name) -%}
  {%- if is_missing(model) -%} select 1 as no_row where false
  {%- else -%} {{ adapter.dispatch('test_not_null', 'dbt')(model, column_name) }} {%- endif -%}
{%- endtest -%}

{%- test accepted_values(model, column_name, values, quote=True) -%}
  {%- if is_missing(model) -%} select 1 as no_row where false
  {%- else -%} {{ adapter.dispatch('test_accepted_values', 'dbt')(model, column_name, values, quote) }} {%- endif -%}
{%- endtest -%}

{%- test relationships(model, column_name, to, field) -%}
  {%- if is_missing(model) -%} select 1 as no_row where false
  {%- elif is_missing(to) -%} select {{ column_name }} from {{ model }} where {{ column_name }} is not null
  {%- else -%} {{ adapter.dispatch('test_relationships', 'dbt')(model, column_name, to, field) }} {%- endif -%}
{%- endtest -%}
`;

function projectFile(project: string): YamlValue {
  return {
    name: project,
    version: '1.0.0',
    'config-version': 2,
    'require-dbt-version': '>=1.10.5',
    profile: project,
    'model-paths': ['models'],
    'macro-paths': ['macros'],
    'test-paths': ['tests'],
    flags: { require_generic_test_arguments_property: true },
    models: { [project]: { staging: { '+materialized': 'view' } } },
  };
}

function env(name: string, usual: string): string {
  return `{{ env_var('${name}', '${usual}') }}`;
}

/** Connections are named by the variables that clients of these databases know; no secret is written. */
function profiles(project: string): string {
  const outputs = {
    postgres: {
      type: 'postgres',
      host: env('PGHOST', 'localhost'),
      port: "{{ env_var('PGPORT', '5432') | as_number }}",
      user: env('PGUSER', 'postgres'),
      password: env('PGPASSWORD', ''),
      dbname: env('PGDATABASE', 'postgres'),
      schema: env('DBT_SCHEMA', 'public'),
      threads: 4,
    },
    duckdb: {
      type: 'duckdb',
      path: env('DUCKDB_FILE', `${project}.duckdb`),
      schema: env('DBT_SCHEMA', 'main'),
      threads: 4,
    },
  };
  return yaml({ [project]: { target: env('DBT_TARGET', 'postgres'), outputs } });
}

function sourceTable(source: Source, table: DescribedTable): YamlValue {
  const references = Map.groupBy(table.references, ({ column }) => column);
  const name = source.tables.get(table.name)!;
  const identifier = nameOfTarget(table.name);
  return {
    name,
    identifier: identifier === name ? undefined : identifier,
    description: rendered(table.description),
    columns: table.columns.map((column) => {
      const isKey = table.primaryKey.length === 1 && table.primaryKey[0] === column.name;
      const isUnique =
        isKey || table.uniqueKeys.some(({ columns }) => columns.length === 1 && columns[0] === column.name);
      const tests: YamlValue[] = [
        ...(isUnique ? ['unique'] : []),
        ...(column.nullable ? [] : ['not_null']),
        ...(references.get(column.name) ?? []).map((reference) => relationship(source, reference)),
        ...acceptedValues(column),
      ];
      return {
        name: nameOfTarget(column.name),
        description: rendered(column.description),
        data_type: bareTypeName(column.type),
        quote: true,
        data_tests: tests.length === 0 ? undefined : tests,
      };
    }),
  };
}

function relationship(source: Source, { parentTable, parentColumn }: DescribedReference): YamlValue {
  const to = sourceOf(source, parentTable);
  return { relationships: { arguments: { to, field: `{{ ${quoted(parentColumn)} }}` } } };
}

const numeric: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint', 'numeric']);

/** The test puts values between quotes as they are, so a quote in one is doubled here. */
function acceptedValues({ type, enumeration }: DescribedColumn): YamlValue[] {
  if (enumeration === null || type.list === true) return [];
  if (numeric.has(type.kind))
    return [{ accepted_values: { arguments: { values: enumeration, quote: false } } }];
  if (type.kind !== 'text') return [];
  const values = enumeration.map((value) => rendered(value.replaceAll("'", "''")));
  return [{ accepted_values: { arguments: { values } } }];
}

function stagingModel(source: Source, table: DescribedTable): string {
  const aliases = plainNamesOf(
    table.columns.map(({ name }) => name),
    { maxBytes: longestModelName, allScripts: true },
  );
  const columns = table.columns.map(({ name }) => {
    const alias = aliases.get(name)!;
    return `    {{ ${quoted(name)} }}${alias === name ? '' : ` as {{ ${quoted(alias)} }}`}`;
  });
  return `select\n${columns.join(',\n')}\nfrom {{ loaded(${sourceOf(source, table.name)}) }}\n`;
}

/** Returns tests of keys with several columns, which dbt does not have: they select rows with duplicate keys. */
function keyTests(source: Source, { tables }: DescribedModel): readonly ProjectFile[] {
  const keys = tables.flatMap((table) =>
    table.uniqueKeys.filter(({ columns }) => columns.length > 1).map((key) => ({ table, ...key })),
  );
  const names = plainNames(keys.map(({ name }) => `unique_${name}`));
  return keys.map(({ table, columns }, index) => {
    const named = columns.map((column) => `{{ ${quoted(column)} }}`);
    return {
      name: `tests/${names[index]!.toLowerCase()}.sql`,
      content: [
        `select ${named.join(', ')}\nfrom {{ loaded(${sourceOf(source, table.name)}) }}\n` +
          `where ${named.map((column) => `${column} is not null`).join(' and ')}\n` +
          `group by ${named.join(', ')}\nhaving count(*) > 1\n`,
      ],
    };
  });
}

function sourceOf({ name, tables }: Source, table: string): string {
  return `source(${literal(name)}, ${literal(tables.get(table)!)})`;
}

/** An expression of Jinja that is the name, quoted as the database has it. */
function quoted(name: string): string {
  return `adapter.quote(${nameExpression(name) ?? literal(betweenQuotes(name))})`;
}

/** dbt puts names between quotes as they are. */
function betweenQuotes(name: string): string {
  return name.replaceAll('"', '""');
}

/** Returns an expression for a name that differs in PostgreSQL, whose names are shorter, or null for all others. */
function nameExpression(name: string): string | null {
  const short = physicalName(postgresql, name);
  if (short === name) return null;
  const [here, elsewhere] = [short, name].map((one) => literal(betweenQuotes(one)));
  return `(${here} if target.type == 'postgres' else ${elsewhere})`;
}

/** Returns a text that dbt renders as the target's name. */
function nameOfTarget(name: string): string {
  const expression = nameExpression(name);
  return expression === null ? rendered(betweenQuotes(name)) : `{{ ${expression} }}`;
}

/** Returns a string of Jinja, in which the characters that would end it, or an expression around it, are escaped. */
function literal(text: string): string {
  const escaped = text
    .toWellFormed()
    .replaceAll(
      /[\p{Cc}"'\\{}%#]/gu,
      (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
  return `'${escaped}'`;
}

/** A text that dbt renders: one that looks like Jinja is written as an expression that gives it back. */
function rendered(text: string): string {
  return /\{[{%#]/.test(text) ? `{{ ${literal(text)} }}` : text;
}

// The Open Data Contract (ODCS v3.1, Bitol), which the JSON Schema of that standard accepts.

/** Returns the contract in pieces. */
export async function odcsContract(model: DescribedModel): Promise<readonly string[]> {
  const ids = await idsOf(model.tables);
  const schema = await mapInSlices(model.tables, (table) => yamlItem(schemaObject(table, ids), 2));
  const head = yaml({
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: `${[...plainNamesOf([model.name]).values()][0]!}-${stableHash(model.name)}`,
    name: model.name,
    version: `${model.version}.0.0`,
    status: 'active',
    description: { purpose: `Tables of ${model.name}, version ${model.version}` },
  });
  return [`${head}schema:\n`, ...schema];
}

/** References use the name of objects whose names only have letters, digits and underscores, and the id of all others. */
interface Ids {
  readonly tables: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

async function idsOf(tables: readonly DescribedTable[]): Promise<Ids> {
  const columns = await mapInSlices(
    tables,
    (table) => [table.name, plainNamesOf(table.columns.map(({ name }) => name))] as const,
  );
  return { tables: plainNamesOf(tables.map(({ name }) => name)), columns: new Map(columns) };
}

function schemaObject(table: DescribedTable, ids: Ids): YamlValue {
  const composite = table.uniqueKeys.filter(({ columns }) => columns.length > 1);
  return {
    id: ids.tables.get(table.name)!,
    name: table.name,
    physicalName: table.name,
    physicalType: 'table',
    logicalType: 'object',
    description: table.description,
    properties: table.columns.map((column) => property(table, column, ids)),
    quality:
      composite.length === 0
        ? undefined
        : composite.map(({ columns }) => ({
            metric: 'duplicateValues',
            arguments: { properties: columns },
            mustBe: 0,
          })),
  };
}

function property(table: DescribedTable, column: DescribedColumn, ids: Ids): YamlValue {
  const { name, type, nullable, description, enumeration } = column;
  const position = table.primaryKey.indexOf(name) + 1;
  const isUnique =
    (position > 0 && table.primaryKey.length === 1) ||
    table.uniqueKeys.some(({ columns }) => columns.length === 1 && columns[0] === name);
  const references = table.references.filter((reference) => reference.column === name);
  const { list, ...item } = type;
  const isEnumerated = enumeration !== null && list !== true;
  return {
    id: ids.columns.get(table.name)!.get(name)!,
    name,
    physicalName: name,
    ...logicalType(type),
    ...(list === true ? { items: { name: 'item', ...logicalType(item) } } : {}),
    description,
    required: !nullable,
    unique: isUnique ? true : undefined,
    primaryKey: position > 0 ? true : undefined,
    primaryKeyPosition: position > 0 ? position : undefined,
    relationships:
      references.length === 0
        ? undefined
        : references.map(({ parentTable, parentColumn }) => ({
            type: 'foreignKey',
            to: referenceTo(parentTable, parentColumn, ids),
          })),
    quality: isEnumerated
      ? [{ metric: 'invalidValues', arguments: { validValues: enumeration }, mustBe: 0 }]
      : undefined,
  };
}

function referenceTo(table: string, column: string, ids: Ids): string {
  if (isPlainName(table) && isPlainName(column)) return `${table}.${column}`;
  return `schema/${ids.tables.get(table)!}/properties/${ids.columns.get(table)!.get(column)!}`;
}

const logicalNames: Readonly<Record<ColumnType['kind'], string>> = {
  text: 'string',
  boolean: 'boolean',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  numeric: 'number',
  real: 'number',
  double: 'number',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
};

const formats: Readonly<Partial<Record<ColumnType['kind'], string>>> = {
  smallint: 'i16',
  integer: 'i32',
  bigint: 'i64',
  real: 'f32',
  double: 'f64',
};

function logicalType(type: ColumnType): { readonly [name: string]: YamlValue | undefined } {
  if (type.list === true) return { logicalType: 'array' };
  const { kind, length, fixed } = type;
  const options =
    kind === 'text' && length !== undefined
      ? { ...(fixed === true ? { minLength: length } : {}), maxLength: length }
      : kind === 'timestamp' || kind === 'timestamptz'
        ? { timezone: kind === 'timestamptz' }
        : formats[kind] === undefined
          ? undefined
          : { format: formats[kind] };
  return { logicalType: logicalNames[kind], logicalTypeOptions: options };
}
