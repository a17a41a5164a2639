/**
 * Counts every value of documents by path, and every value of the rows by the paths their column is mapped from:
 * both counts must be the same, whatever the tables look like.
 */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { pathSteps } from '../../../src/engine/model/name-labels.ts';
import type { QName } from '../../../src/engine/model/source-model.ts';
import { parseXmlTree, type XmlElement } from '../../../src/engine/xml/tree.ts';
import { bytesOf, type Shredded } from '../models/shredding.ts';

const xsi = 'http://www.w3.org/2001/XMLSchema-instance';

/** value -> how often, per group of paths that share columns */
export type Census = ReadonlyMap<string, ReadonlyMap<string, number>>;

export interface CensusDifference {
  readonly paths: string;
  readonly value: string;
  readonly inDocuments: number;
  readonly inRows: number;
}

/** For `compareCensus`, once for all models that a document is shredded with. */
export function treesOf(documents: readonly (string | Uint8Array)[]): XmlElement[] {
  return documents.map((document) => parseXmlTree(bytesOf(document), {}));
}

/** Text and attributes of the documents against value columns, unmapped and unconverted values; white space at the ends is ignored. */
export function compareCensus(shredded: Shredded, documents: readonly XmlElement[]): CensusDifference[] {
  const { model } = shredded;
  const groups = groupPaths(model);
  const expected = new Map<string, Map<string, number>>();
  const actual = new Map<string, Map<string, number>>();
  const step = stepPrinter(model);
  const visit = (element: XmlElement, path: string): void => {
    for (const { name, value } of element.attributes) {
      const group = groups.get(`${path}/${step(name, '@')}`);
      if (name.namespaceUri !== xsi && group !== undefined) count(expected, group, value);
    }
    const elements = element.children.filter((child) => typeof child !== 'string');
    const group = groups.get(path);
    const text = element.children.filter((child) => typeof child === 'string').join('');
    if (group !== undefined && elements.length === 0 && !isNil(element)) count(expected, group, text);
    for (const child of elements) visit(child, `${path}/${step(child.name)}`);
  };
  for (const root of documents) visit(root, `/${step(root.name)}`);
  for (const table of model.tables) {
    for (const column of table.columns) {
      if (column.role !== 'value') continue;
      const group = `${table.name}.${column.name}`;
      for (const row of shredded.rows[table.name] ?? []) {
        const value = row[column.name];
        if (value !== null && value !== undefined)
          count(actual, group, column.type.list ? listItems(value) : value);
      }
    }
  }
  for (const { table, column, text } of shredded.unconvertedValues) {
    const { name, columns } = model.tables[table]!;
    count(actual, `${name}.${columns[column]!.name}`, text);
  }
  for (const row of shredded.rows['_lexical'] ?? []) {
    // an empty value of a type that has none
    if (row['content'] === '') count(actual, `${row['table_name']}.${row['column_name']}`, '');
  }
  // below a shared table paths go on for ever; its columns may hold more than the listed ones say
  const shared = new Set(model.tables.filter(isRecursive(model)).map((table) => table.name));
  // and the map of a very large set lists the columns of a shared table for one path alone
  const complete = model.mappings.length < 40_000;
  return differences(expected, actual).filter(
    ({ paths, inDocuments, inRows }) =>
      inRows < inDocuments || (complete && !shared.has(paths.slice(0, paths.indexOf('.')))),
  );
}

/** Names of elements and attributes (`mark` is `@`) as the paths of the model have them. */
export function stepPrinter({
  roots,
  namespaces,
  mappings,
}: Pick<RelationalModel, 'roots' | 'namespaces' | 'mappings'>): (name: QName, mark?: string) => string {
  const rootNamespace = roots[0]?.name.namespaceUri ?? '';
  const prefixes = new Map(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]));
  const steps = new Set(mappings.flatMap(({ xpath }) => (xpath === null ? [] : pathSteps(xpath))));
  return ({ namespaceUri, localName }, mark = '') => {
    const prefix = prefixes.get(namespaceUri);
    const [bare, prefixed] = [`${mark}{}${localName}`, `${mark}${prefix}:${localName}`];
    if (namespaceUri === '' && steps.has(bare)) return bare;
    const plain = namespaceUri === '' || (namespaceUri === rootNamespace && !steps.has(prefixed));
    return plain || prefix === undefined ? `${mark}${localName}` : prefixed;
  };
}

/** Whether a table, or one its rows stand below, can hold rows below its own rows. */
function isRecursive(model: RelationalModel): (table: RelationalModel['tables'][number]) => boolean {
  // the rows above have the key of a child, or the child has theirs
  const above = model.tables.map((): number[] => []);
  for (const [table, { columns }] of model.tables.entries()) {
    for (const { role, references } of columns) {
      if (references === null) continue;
      if (role === 'child_key') above[references]!.push(table);
      else above[table]!.push(references);
    }
  }
  const ancestorsOf = (start: number): Set<number> => {
    const seen = new Set<number>();
    const open = [start];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const table of above[next]!) {
        if (seen.has(table)) continue;
        seen.add(table);
        open.push(table);
      }
    }
    return seen;
  };
  const cyclic = new Set(model.tables.keys().filter((table) => ancestorsOf(table).has(table)));
  return (table) => {
    const index = model.tables.indexOf(table);
    return cyclic.has(index) || [...ancestorsOf(index)].some((ancestor) => cyclic.has(ancestor));
  };
}

function count(census: Map<string, Map<string, number>>, group: string, value: string): void {
  const values = census.get(group) ?? new Map<string, number>();
  census.set(group, values);
  const normal = normalise(value);
  values.set(normal, (values.get(normal) ?? 0) + 1);
}

function isNil(element: XmlElement): boolean {
  return element.attributes.some(
    ({ name, value }) =>
      name.namespaceUri === xsi && name.localName === 'nil' && (value === 'true' || value === '1'),
  );
}

/** path -> the column it is mapped to */
function groupPaths(model: RelationalModel): Map<string, string> {
  const groups = new Map<string, string>();
  for (const { xpath, table, column } of model.mappings) {
    if (xpath === null || column === null) continue;
    const { name, columns } = model.tables[table]!;
    if (columns[column]!.role === 'value') groups.set(xpath, `${name}.${columns[column]!.name}`);
  }
  return groups;
}

function differences(
  expected: ReadonlyMap<string, ReadonlyMap<string, number>>,
  actual: ReadonlyMap<string, ReadonlyMap<string, number>>,
): CensusDifference[] {
  const result: CensusDifference[] = [];
  for (const group of new Set([...expected.keys(), ...actual.keys()])) {
    const [before, after] = [expected.get(group), actual.get(group)];
    for (const value of new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])) {
      const [inDocuments, inRows] = [before?.get(value) ?? 0, after?.get(value) ?? 0];
      if (inDocuments !== inRows) result.push({ paths: group, value, inDocuments, inRows });
    }
  }
  return result;
}

/** Values that are equal are written alike: numbers without exponents and zeros that say nothing, times of any zone in UTC and in microseconds, true and 1. */
function normalise(text: string): string {
  return text.trim().split(/\s+/).map(normaliseItem).join(' ');
}

function normaliseItem(text: string): string {
  const value = withoutExponent(text.replace(/(\d\d:\d\d:\d\d\.\d{6})\d+/, '$1'));
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value)) {
    const [, sign, whole, fraction] = /^([+-]?)0*(\d*)\.?(\d*?)0*$/.exec(
      value.includes('.') ? value : `${value}.`,
    )!;
    const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
    return sign === '-' && digits !== '0' ? `-${digits}` : digits;
  }
  if (value === 'INF' || value === '-INF') return value.replace('INF', 'Infinity');
  if (value === 't' || value === 'true') return '1';
  if (value === 'f' || value === 'false') return '0';
  const zoned = /^(\d{4}-\d\d-\d\d)T(.*)(?:Z|[+-]\d\d:\d\d)$/.exec(value);
  if (zoned !== null) return `${zoned[1]}T${zoned[2]}`;
  return value.replace(/^(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:\d\d)$/, '$1');
}

/** A number with an exponent is written out; other texts stay. */
export function withoutExponent(value: string): string {
  const parts = /^([+-]?)(\d*)\.?(\d*)[eE]([+-]?\d{1,3})$/.exec(value);
  const [, sign, whole = '', fraction = '', power] = parts ?? [];
  if (whole + fraction === '') return value;
  const exponent = Number(power);
  const zeros = '0'.repeat(Math.abs(exponent));
  const digits = exponent < 0 ? zeros + whole + fraction : whole + fraction + zeros;
  const point = whole.length + Math.max(0, exponent);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function listItems(literal: string): string {
  const items = literal.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/g) ?? [];
  return items
    .map((item) => (item.startsWith('"') ? item.slice(1, -1).replace(/\\(.)/g, '$1') : item))
    .join(' ');
}
