/**
 * Compares documents with the tables they were loaded into, through the mapping alone: every element that makes a row, and
 * every value, is named by its document and by the positions of the rows it hangs from, and must be there exactly once.
 */
import { withoutExponent } from '../round-trip/census.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { MappingAnswer } from './client.ts';
import { readXml, type ReadElement } from './xml-reader.ts';

export interface CensusInput {
  readonly mapping: readonly MappingAnswer[];
  /** prefix -> URI, of the schema */
  readonly namespaces: Readonly<Record<string, string>>;
  /** by the names that `_documents` has; a document loaded n times is listed n times */
  readonly documents: readonly { readonly name: string; readonly text: string }[];
}

/** Facts that only one side has, each with how often more it is there; empty when both are equal. */
export interface CensusDifference {
  readonly fact: string;
  readonly side: 'documents' | 'rows';
  readonly times: number;
}

const instanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

export async function compareWithDocuments(
  sql: Sql,
  sqlSchema: string,
  input: CensusInput,
): Promise<CensusDifference[]> {
  const facts = new Map<string, number>();
  for (const fact of factsOfDocuments(input)) facts.set(fact, (facts.get(fact) ?? 0) + 1);
  for (const fact of await factsOfRows(sql, sqlSchema, input.mapping))
    facts.set(fact, (facts.get(fact) ?? 0) - 1);
  return [...facts]
    .filter(([, difference]) => difference !== 0)
    .map(([fact, difference]) => ({
      fact,
      side: difference > 0 ? 'documents' : 'rows',
      times: Math.abs(difference),
    }));
}

/** How many facts the documents hold: a comparison of nothing with nothing proves nothing. */
export function countFacts(input: CensusInput): number {
  return factsOfDocuments(input).length;
}

/** What an XPath leads to. */
interface PathTargets {
  /** tables that an element of this path makes a row of */
  readonly tables: string[];
  readonly columns: MappingAnswer[];
}

interface Place {
  /** the path that the mapping knows this element by */
  readonly path: string;
  /** rows it hangs from, outermost first: `table#position` */
  readonly rows: readonly string[];
  readonly above: Place | null;
  readonly step: string;
}

/** Whether a column describes an element (its presence, role, type or nil), and holds none of its content. */
function describes(entry: MappingAnswer): boolean {
  return tellsPresence(entry) || (entry.column_name !== null && entry.node_type === null);
}

/** A column that says whether the element is there, beside the one with its value. */
function tellsPresence({ column_name: name, data_type: type }: MappingAnswer): boolean {
  return type === 'boolean' && name !== null && /_present(_|$)/.test(name);
}

function factsOfDocuments({ mapping, namespaces, documents }: CensusInput): string[] {
  const targets = new Map<string, PathTargets>();
  const known = new Set<string>();
  for (const entry of mapping) {
    if (entry.xpath === null || describes(entry)) continue;
    const found = targets.get(entry.xpath) ?? { tables: [], columns: [] };
    targets.set(entry.xpath, found);
    if (entry.column_name === null) found.tables.push(entry.table_name);
    else found.columns.push(entry);
    for (let end = entry.xpath.length; end > 0; end = entry.xpath.lastIndexOf('/', end - 1))
      known.add(entry.xpath.slice(0, end));
  }
  const prefixes = new Map(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]));
  const facts: string[] = [];

  for (const { name, text } of documents) {
    const root = readXml(text);
    const stepOf = (namespaceUri: string, localName: string): string => {
      const plain = namespaceUri === '' || namespaceUri === root.namespaceUri;
      return plain ? localName : `${prefixes.get(namespaceUri) ?? '?'}:${localName}`;
    };
    /** The path of a step below a place; below a recursion, that of the place where it was written out. */
    const pathOf = (place: Place, step: string): string => {
      for (let at: Place | null = place; at !== null; at = at.above) {
        if (at.step === place.step && known.has(`${at.path}/${step}`)) return `${at.path}/${step}`;
      }
      return `${place.path}/${step}`;
    };
    const add = (
      path: string,
      rows: readonly string[],
      value: string,
      mixedPosition: number | null,
    ): void => {
      for (const column of targets.get(path)?.columns ?? []) {
        const isMixed = column.node_type === 'mixed';
        if (isMixed !== (mixedPosition !== null)) continue;
        const chain = isMixed ? [...rows, `${column.table_name}#${mixedPosition}`] : rows;
        if (isMixed) facts.push(rowFact(name, chain));
        const wanted = column.source_type === 'offset' ? offsetIn(value) : valueOfText(value, column);
        if (wanted !== null) facts.push(valueFact(name, chain, column, wanted));
      }
      if (!targets.has(path)) facts.push(`${name}: ${path} is not mapped`);
    };
    const visit = (element: ReadElement, place: Place, position: number): void => {
      const opened = targets.get(place.path)?.tables ?? [];
      const rows = [
        ...place.rows,
        ...opened.map((table) => `${table}#${place.above === null ? '' : position}`),
      ];
      if (opened.length > 0) facts.push(rowFact(name, rows));
      const here = { ...place, rows };
      let isNil = false;
      for (const attribute of element.attributes) {
        if (attribute.namespaceUri === instanceNamespace) {
          isNil ||= attribute.localName === 'nil' && /^(?:true|1)$/.test(attribute.value);
          continue;
        }
        const step = stepOf(attribute.namespaceUri, attribute.localName);
        add(pathOf(here, `@${step}`), rows, attribute.value, null);
      }
      const isMixed = (targets.get(place.path)?.columns ?? []).some(
        ({ node_type: type }) => type === 'mixed',
      );
      const hasElements = element.children.some((child) => typeof child !== 'string');
      const isLeaf = !isMixed && !hasElements && (targets.get(place.path)?.columns.length ?? 0) > 0;
      if (isLeaf && !isNil) add(place.path, rows, element.children.join(''), null);
      let ordinal = 0;
      for (const child of element.children) {
        if (typeof child === 'string') {
          if (isMixed) add(place.path, rows, child, (ordinal += 1));
          else if (!isLeaf && child.trim() !== '') facts.push(`${name}: text in ${place.path}`);
          continue;
        }
        const step = stepOf(child.namespaceUri, child.localName);
        visit(child, { path: pathOf(here, step), rows, above: here, step }, (ordinal += 1));
      }
    };
    const step = stepOf(root.namespaceUri, root.localName);
    visit(root, { path: `/${step}`, rows: [], above: null, step }, 1);
  }
  return facts;
}

type Row = Readonly<Record<string, string | null>>;

async function factsOfRows(
  sql: Sql,
  sqlSchema: string,
  mapping: readonly MappingAnswer[],
): Promise<string[]> {
  const references = await readReferences(sql, sqlSchema);
  const tables = new Map<string, Map<string, Row>>();
  const names = new Set(['_documents', ...mapping.map((entry) => entry.table_name)]);
  const keys = new Map(
    mapping.flatMap((entry) => (entry.key === 'PK' ? [[entry.table_name, entry.column_name!] as const] : [])),
  );
  keys.set('_documents', 'document_key');
  for (const name of names) {
    const rows = await readTable(sql, sqlSchema, name);
    tables.set(name, new Map(rows.map((row) => [row[keys.get(name)!]!, row])));
  }
  /** by table and key of a row: the rows that have its key, as it is a child of theirs */
  const holders = new Map<string, { table: string; row: Row }[]>();
  for (const { table, column, parent } of references.filter(({ holdsChild }) => holdsChild))
    for (const row of tables.get(table)?.values() ?? []) {
      if (row[column] === null || row[column] === undefined) continue;
      const held = `${parent} ${row[column]}`;
      holders.set(held, [...(holders.get(held) ?? []), { table, row }]);
    }
  const parentOf = (table: string, row: Row): { table: string; row: Row } => {
    const all = references.filter(
      ({ table: from, column, holdsChild }) => from === table && !holdsChild && row[column] !== null,
    );
    const above = all.filter(({ parent }) => parent !== '_documents');
    const holding = holders.get(`${table} ${row[keys.get(table)!]}`) ?? [];
    // every row names its document; that of a root element has nothing else above it
    const held = above.length + holding.length > 0 ? above : all;
    const count = held.length + holding.length;
    if (count !== 1) throw new Error(`${table}: a row has ${count} parents`);
    if (holding.length > 0) return holding[0]!;
    const { parent, column } = held[0]!;
    const found = tables.get(parent)?.get(row[column]!);
    if (found === undefined) throw new Error(`${table}.${column}: the row it refers to is not there`);
    return { table: parent, row: found };
  };
  const placeOf = (table: string, row: Row): { document: string; rows: string[] } => {
    if (table === '_documents') return { document: row['name']!, rows: [] };
    const parent = parentOf(table, row);
    const { document, rows } = placeOf(parent.table, parent.row);
    return { document, rows: [...rows, `${table}#${row['position'] ?? ''}`] };
  };
  const columns = new Map<string, MappingAnswer>();
  for (const entry of mapping) {
    if (entry.xpath !== null && entry.column_name !== null && !describes(entry))
      columns.set(`${entry.table_name}.${entry.column_name}`, entry);
  }
  const empty = new Set(
    (await readTable(sql, sqlSchema, '_lexical'))
      .filter(({ content }) => content === '')
      .map((row) => `${row['table_name']}.${row['column_name']} ${row['row_key']}`),
  );
  const facts: string[] = [];
  for (const [table, rows] of tables) {
    if (table === '_documents') continue;
    for (const [rowKey, row] of rows) {
      const place = placeOf(table, row);
      facts.push(rowFact(place.document, place.rows));
      for (const column of columns.values()) {
        if (column.table_name !== table) continue;
        // an empty value of a type that has none is kept beside the tables
        const value = row[column.column_name!] ?? (empty.has(`${nameOf(column)} ${rowKey}`) ? '' : null);
        if (value === null) continue;
        facts.push(valueFact(place.document, place.rows, column, valueOfColumn(value, column)));
      }
    }
  }
  return facts;
}

async function readTable(sql: Sql, sqlSchema: string, name: string): Promise<Row[]> {
  const columns = await sql<{ name: string; type: string }[]>`
    select column_name as name, data_type as type from information_schema.columns
     where table_schema = ${sqlSchema} and table_name = ${name}`;
  if (columns.length === 0) return [];
  const shown = columns.map(({ name: column, type }) => {
    const quoted = `"${column.replaceAll('"', '""')}"`;
    if (type === 'ARRAY') return `array_to_string(${quoted}, ' ') as ${quoted}`;
    return type.startsWith('timestamp')
      ? `to_char(${quoted}${type.endsWith('with time zone') ? " at time zone 'UTC'" : ''}, 'YYYY-MM-DD"T"HH24:MI:SS.US') as ${quoted}`
      : `${quoted}::text`;
  });
  const table = `"${sqlSchema.replaceAll('"', '""')}"."${name.replaceAll('"', '""')}"`;
  return [...(await sql.unsafe<Row[]>(`select ${shown.join(', ')} from ${table}`))];
}

export interface Reference {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  readonly validated: boolean;
  /** the row above has the key of the one below, as its comment says */
  readonly holdsChild: boolean;
}

/** Foreign keys of one column, as the database has them. */
export async function readReferences(sql: Sql, sqlSchema: string): Promise<readonly Reference[]> {
  return sql<Reference[]>`
    select t.relname as table, a.attname as column, p.relname as parent, c.convalidated as validated,
           coalesce(col_description(t.oid, a.attnum) like 'key of the row in % that is %', false) as "holdsChild"
      from pg_constraint c
      join pg_class t on t.oid = c.conrelid
      join pg_class p on p.oid = c.confrelid
      join pg_attribute a on a.attrelid = t.oid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.connamespace = to_regnamespace(quote_ident(${sqlSchema}))`;
}

function rowFact(document: string, rows: readonly string[]): string {
  return `${document}: row ${rows.join(' / ')}`;
}

function valueFact(document: string, rows: readonly string[], column: MappingAnswer, value: string): string {
  return `${document}: ${rows.join(' / ')} ${nameOf(column)} = ${value}`;
}

function nameOf(column: MappingAnswer): string {
  return `${column.table_name}.${column.column_name}`;
}

/** White space as the source type has it, then as the column's type shows it. */
function valueOfText(text: string, column: MappingAnswer): string {
  const keepsSpace = /^(?:xs:)?(?:string|normalizedString|mixed)$/.test(column.source_type);
  return valueOfColumn(keepsSpace ? text : text.trim().replaceAll(/\s+/g, ' '), column);
}

/** Values that are equal are written alike. */
function valueOfColumn(text: string, { data_type: type }: MappingAnswer): string {
  switch (type) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric': {
      const [, sign, whole, fraction = ''] =
        /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(withoutExponent(text)) ?? [];
      if (whole === undefined || text === '') return text;
      const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
      return sign === '-' && digits !== '0' ? `-${digits}` : digits;
    }
    case 'real':
    case 'double precision':
      return text === '' ? text : String(Number(text.replace(/^([+-]?)INF$/, '$1Infinity')));
    case 'boolean':
      return /^(?:true|t|1)$/.test(text) ? 'true' : /^(?:false|f|0)$/.test(text) ? 'false' : text;
    // what the column cannot hold, the zone here, is kept beside the tables
    case 'date':
      return text.replace(/(\d)(?:Z|[+-]\d\d:\d\d)$/, '$1');
    case 'time':
      return microseconds(text.replace(/(?:Z|[+-]\d\d:\d\d)$/, ''));
    case 'timestamp':
    case 'timestamptz':
      return instant(text);
    default:
      return text;
  }
}

/** Of a time: minutes ahead of UTC; null: it is in UTC, or has no zone. */
function offsetIn(text: string): string | null {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)\s*$/.exec(text) ?? [];
  if (sign === undefined) return null;
  return String((sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)));
}

function instant(text: string): string {
  const [, moment, fraction = '', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  if (moment === undefined) return text;
  const seconds = new Date(`${moment}${zone}`).toISOString().slice(0, 19);
  return microseconds(`${seconds}${fraction}`);
}

/** Of a time: digits behind them are cut off, as in columns. */
function microseconds(text: string): string {
  const [, whole, fraction] = /^(.*\d\d:\d\d:\d\d)(\.\d+)$/.exec(text) ?? [];
  return whole === undefined ? text : `${whole}${fraction!.slice(0, 7).replace(/\.?0+$/, '')}`;
}
