/** Writes the comments on tables and columns: the XPath first, then the documentation. */
import { withoutMarks } from '../model/column-uses.ts';
import { isRoleColumn } from '../model/keys.ts';
import type { Column, RelationalModel, Table } from '../model/relational-model.ts';
import type { PlacesOfRows } from './places-of-rows.ts';

/** most rules in the comment of one table: types that are used everywhere have hundreds */
const maxRules = 8;

/** `places`: of the table's model; `rules`: the notes of `identityNotes` for the table. */
export function tableComment(table: Table, places: PlacesOfRows, rules: readonly string[] = []): string {
  const shownRules = rules.slice(0, maxRules);
  if (rules.length > maxRules) shownRules.push(`${rules.length - maxRules} further keys and references`);
  const what =
    table.continues !== undefined
      ? ' (further columns of the same rows)'
      : table.kind === 'text'
        ? ' (text runs)'
        : table.kind === 'wildcard'
          ? ' (content of wildcards, as XML)'
          : '';
  return withDocumentation(
    [`${table.xpath}${what}`, ...places.further(table, 'table'), ...shownRules].join('; '),
    table.documentation,
  );
}

/**
 * Returns the notes of each table on keys and references that the XSD declares. They hold within one element of a document each, which a
 * database constraint cannot express. They are therefore stated in comments and checked when documents are loaded, but not enforced.
 */
export function identityNotes(model: RelationalModel): ReadonlyMap<number, readonly string[]> {
  const notes = new Map<number, string[]>();
  const rules = model.identityRules ?? [];
  for (const { kind, name, refers, nodes, tables } of rules) {
    const scopes = [...new Set(nodes.map((node) => model.nodes[node]!.name.localName))].join(', ');
    for (const { table, columns } of tables) {
      const named = columnNames(model, table, columns);
      const target = refers === null ? undefined : rules[refers];
      const key = target?.tables[0];
      const to =
        key === undefined
          ? (target?.name.localName ?? '')
          : `${model.tables[key.table]!.name} (${columnNames(model, key.table, key.columns)})`;
      const note =
        kind === 'keyref'
          ? `reference ${name.localName}: (${named}) to ${to}, within ${scopes}`
          : `${kind === 'key' ? 'natural key' : 'unique'} ${name.localName}: (${named}), within ${scopes}`;
      const known = notes.get(table);
      if (known === undefined) notes.set(table, [note]);
      else known.push(note);
    }
  }
  return notes;
}

function columnNames(model: RelationalModel, table: number, columns: readonly number[]): string {
  return columns.map((at) => model.tables[table]!.columns[at]!.name).join(', ');
}

/** `places`: of the model. */
export function columnComment(
  model: RelationalModel,
  table: Table,
  column: Column,
  places: PlacesOfRows,
): string {
  const others = [
    ...constraintWords(column),
    ...referenceWords(model, table, column, places),
    ...places.furtherElements(table, column),
    ...places.further(table, 'column'),
  ];
  return withDocumentation(sourceComment(model, table, column, others), column.documentation);
}

/** Returns the comment of a column on its source: the element or attribute, and its property if the column does not have its value. */
function sourceComment(
  model: RelationalModel,
  table: Table,
  column: Column,
  places: readonly string[],
): string {
  if (column.xpath === null) return structureComment(model, table, column);
  const describes = describing.has(column.role) || holdsAttributes(table, column);
  const what = describes ? ` (${structureComment(model, table, column)})` : '';
  return [`${column.xpath}${what}`, ...places].join('; ');
}

/** A value that is longer is cut. */
const longestConstraint = 100;

/** Returns `default EUR`, `fixed 2.1`, or nothing if the XSD has neither. */
export function constraintWords({ constraint }: Pick<Column, 'constraint'>): string[] {
  if (constraint === undefined) return [];
  const value = constraint.value.trim() === '' ? JSON.stringify(constraint.value) : constraint.value;
  return [`${constraint.kind} ${commentLine(value, longestConstraint)}`];
}

/** `means resource.id of the same document`; nothing of a column that is no reference, or may be one to rows of several tables. */
export function referenceWords(
  { tables }: RelationalModel,
  table: Table,
  column: Column,
  { meantIds }: PlacesOfRows,
): string[] {
  const [meant, ...others] = meantIds(table, column);
  if (meant === undefined || others.length > 0) return [];
  const { name, columns } = tables[meant.table]!;
  return [`means ${name}.${columns[meant.column]!.name} of the same document`];
}

/** True if the column has the attributes of an element that only a wildcard of its schema allows. */
function holdsAttributes({ kind }: Table, { role }: Column): boolean {
  return role === 'content' && kind === 'element';
}

const describing: ReadonlySet<Column['role']> = new Set([
  'presence',
  'nil',
  'element_name',
  'type_name',
  'offset',
]);

function structureComment(model: RelationalModel, table: Table, column: Column): string {
  switch (column.role) {
    case 'row_key':
      return column.references === null
        ? 'row key'
        : `row key, the same as in ${model.tables[column.references]?.name ?? ''}`;
    case 'parent_key':
      return column.references === null
        ? 'key of the parent row'
        : `key of the parent row in ${model.tables[column.references]?.name ?? ''}${whichUse(table, column)}`;
    case 'child_key':
      return `key of the row in ${model.tables[column.references ?? -1]?.name ?? ''} that is ${withoutMarks(column.path)}`;
    case 'position':
      return 'position among the children of its parent, from 1';
    case 'document':
      return 'document, as in _documents';
    case 'element_name':
      return isRoleColumn(column) ? 'the path from the parent row to this element' : 'name of the element';
    case 'type_name':
      return 'type that xsi:type names';
    case 'nil':
      return 'true if xsi:nil is true';
    case 'presence':
      return 'true if the element is present';
    case 'offset':
      return 'UTC offset in minutes as written; NULL for Z';
    case 'folded_position':
      return 'position among the children, from 1';
    case 'content':
      return holdsAttributes(table, column)
        ? 'attributes allowed by a wildcard, one per line: {namespace}name="value"'
        : 'content';
    default:
      return 'extra column';
  }
}

/** Returns the element that a row with this key is, if rows of other places have other keys. Roles state it themselves. */
function whichUse(table: Table, { path, roles }: Column): string {
  const keys = table.columns.filter(({ role }) => role === 'parent_key');
  const isTold = keys.length > 1 && roles === undefined && !path.endsWith('/(head)');
  return isTold ? `, where it is ${withoutMarks(path)}` : '';
}

function withDocumentation(text: string, documentation: string | undefined): string {
  return documentation === undefined || documentation.trim() === '' ? text : `${text}: ${documentation}`;
}

/** Returns the text on one line, without control characters, with at most `maxLength` characters. */
export function commentLine(text: string, maxLength: number | null): string {
  const line = isPlainLine(text) ? text : text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if (maxLength === null || line.length <= maxLength) return line;
  // a surrogate pair must not be split
  const head = line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}…`;
}

/** True if the text is certainly one line: ASCII characters with single spaces between them. */
function isPlainLine(text: string): boolean {
  const space = 0x20;
  let before = space;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < space || code > 0x7e || (code === space && before === space)) return false;
    before = code;
  }
  return before !== space;
}
