/** Settles names, order and indexes of a drawn model and writes it as plain data. */
import type { Column, PlanEdge, PlanNode, RelationalModel, Table } from '../model/relational-model.ts';
import type { SourceModel } from '../model/source-model.ts';
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../model/side-tables.ts';
import type { Drawing } from './draw-model.ts';
import {
  finishedColumn,
  newColumn,
  orderedColumns,
  type ColumnDraft,
  type EdgeDraft,
  type TableDraft,
} from './model-builder.ts';
import { noPreviousNames, type PreviousNames } from './previous-names.ts';
import { splitTable } from './split-tables.ts';
import { createStepChooser } from './telling-steps.ts';
import {
  byteLength,
  lastWords,
  NameScope,
  rememberedIdentifiers,
  structureWord,
  type Identifiers,
  type NamingOptions,
} from './names.ts';

/** `-R`: a column on every table, filled with the same kind of value in every row. */
export interface ExtraColumn {
  readonly name: string;
  readonly type: Column['type'];
}

export function finishTables(
  drawing: Drawing,
  naming: NamingOptions,
  extras: readonly ExtraColumn[],
  previous: PreviousNames = noPreviousNames,
): void {
  const identifiers = rememberedIdentifiers(naming.nameMode);
  nameTables(drawing.tables, naming, identifiers, previous);
  for (const table of drawing.tables) {
    for (const extra of extras)
      table.columns.push(newColumn({ role: 'extra', type: extra.type, nameParts: [extra.name] }));
  }
  const unsaid = new Map(
    drawing.tables.map((table) => [table, unsaidSteps(table.columns, naming, identifiers)]),
  );
  for (const table of drawing.tables) {
    nameColumns(table, naming, identifiers, previous, unsaid);
    splitTable(table, previous.parts(table.name));
  }
  nameContinuations(drawing.tables, naming, previous);
  let index = 0;
  for (const table of drawing.tables) {
    for (const part of table.parts) part.index = index++;
    table.index = table.parts[0]!.index;
    for (const [at, column] of table.parts.flatMap((part) => part.columns).entries()) column.index = at;
  }
  for (const [at, node] of drawing.nodes.entries()) node.index = at;
}

/** `order_2`, `order_3`: the name of the first table and the number of the part. */
function nameContinuations(
  tables: readonly TableDraft[],
  naming: NamingOptions,
  previous: PreviousNames,
): void {
  const scope = tableScope(naming);
  for (const table of tables) {
    table.parts[0]!.name = table.name;
    scope.keep(table.name, table.xpath);
  }
  const later = tables.flatMap((table) => table.parts.slice(1).map((part) => ({ table, part })));
  const known = later.map(({ table, part }) => previous.continuation(table.name, part.number));
  for (const [at, { table, part }] of later.entries())
    if (known[at] !== undefined) part.name = scope.keep(known[at], `${table.xpath}#${part.number}`);
  for (const { table, part } of later) {
    if (part.name !== '') continue;
    const name = `${table.name}_${part.number + 1}`;
    part.name = scope.claim([naming.rename.get(name) ?? name], `${table.xpath}#${part.number}`);
  }
}

/**
 * A table has its element's name; where several would be alike, each takes as many steps of its path as tell them apart. Of one that
 * several places share no path says more than the name: it keeps it, and the others step aside.
 */
function nameTables(
  tables: readonly TableDraft[],
  naming: NamingOptions,
  identifiers: Identifiers,
  previous: PreviousNames,
): void {
  const kept = new Map<TableDraft, string>();
  for (const table of tables) {
    const name = previous.table(table.kind, table.xpath);
    if (name !== undefined) kept.set(table, name);
  }
  const taken = new Set([...kept.values()].map((name) => name.toLowerCase()));
  const elements = tables.filter((table) => table.kind === 'element' && !kept.has(table));
  const steps = new Map(elements.map((table) => [table, 0]));
  const stepsOf = (table: TableDraft, ancestors: number): string[] => {
    const own = table.ownName ?? table.path.at(-1)!;
    const before = table.path.slice(Math.max(0, table.path.length - 1 - ancestors), table.path.length - 1);
    return [...before, own].map(identifiers);
  };
  const candidate = (table: TableDraft, ancestors: number): string =>
    naming.tablePrefix + stepsOf(table, ancestors).join('_') + naming.tableSuffix;
  for (let again = true; again;) {
    again = false;
    const byName = Map.groupBy(elements, (table) => candidate(table, steps.get(table)!).toLowerCase());
    for (const [name, group] of byName) {
      if (group.length < 2 && !taken.has(name)) continue;
      const shared = group.filter((table) => table.shared);
      const [keeps] = shared.length === 1 && !taken.has(name) ? shared : [];
      for (const table of group) {
        if (table === keeps || steps.get(table)! >= table.path.length - 1) continue;
        steps.set(table, steps.get(table)! + 1);
        again = true;
      }
    }
  }
  const scope = tableScope(naming);
  const settle = (table: TableDraft, name: string, parts: readonly string[]): void => {
    const wanted = naming.rename.get(name) ?? name;
    table.name = scope.claim([wanted, `${wanted}_2`, `${wanted}_3`], `${table.xpath}#${table.kind}`, parts);
  };
  for (const [table, name] of kept) table.name = scope.keep(name, `${table.xpath}#${table.kind}`);
  for (const table of elements)
    settle(table, candidate(table, steps.get(table)!), stepsOf(table, steps.get(table)!));
  for (const table of tables) {
    if (table.kind === 'element' || kept.has(table)) continue;
    const owner = table.columns.find((column) => column.role === 'parent_key')!.parent!;
    const words = table.path.slice(owner.path.length).map(identifiers);
    settle(table, [owner.name, ...words].join('_'), [owner.name, ...words]);
  }
}

/** Tables beside the data have their names, and what loads make for a while. */
function tableScope({ maxBytes }: NamingOptions): NameScope {
  const scope = new NameScope(maxBytes, hasOwnPrefix);
  for (const name of Object.values(sideTableNames)) scope.claim([name], name);
  return scope;
}

/** Columns that hold source values take their names first; structure makes way. */
function nameColumns(
  table: TableDraft,
  naming: NamingOptions,
  identifiers: Identifiers,
  previous: PreviousNames,
  unsaid: ReadonlyMap<TableDraft, number>,
): void {
  const scope = new NameScope(naming.maxBytes);
  const word = (text: string): string => structureWord(text, naming.nameMode);
  const ordered = orderedColumns(table);
  table.columns.splice(0, table.columns.length, ...ordered);
  const structure: ColumnDraft[] = [];
  const uses = new Map<TableDraft | null, number>();
  for (const { parent } of ordered) uses.set(parent, (uses.get(parent) ?? 0) + 1);
  const known = new Map<ColumnDraft, string>();
  for (const column of ordered) {
    const name = previous.column(table.name, column.role, column.xpath, column.parent?.xpath ?? null);
    if (name !== undefined) known.set(column, scope.claim([name], column.xpath ?? name));
  }
  const fileKey = word(fileKeyName);
  // a target of an earlier version may have it as another column: there, what it means stays
  const isFileKeyFree = !scope.has(fileKey);
  if (isFileKeyFree) scope.claim([fileKey], fileKey);
  // of a key: the way to its row from the parent's
  const stepsOf = ({ parent, via, nameParts }: ColumnDraft): string[] => {
    const steps = parent === null ? nameParts : via;
    return steps
      .slice(Math.min(unsaid.get(parent ?? table)!, Math.max(0, steps.length - 1)))
      .map(identifiers);
  };
  const keySteps = (column: ColumnDraft): string[] => {
    const steps = stepsOf(column);
    return steps.map((step, at) => (at === steps.length - 1 ? `${step}_${word('key')}` : step));
  };
  const choose = createStepChooser(() =>
    ordered.filter(({ nameParts }) => nameParts.length > 0).map((column) => stepsOf(column)),
  );
  const chooseOfKey = createStepChooser(() =>
    ordered.filter(({ via }) => via.length > 0).map((column) => keySteps(column)),
  );
  const elementWords = new Set(
    ordered.flatMap((column) =>
      column.role === 'value' && !isAttribute(column) ? [stepsOf(column).join('_').toLowerCase()] : [],
    ),
  );
  for (const column of ordered) {
    const keeps = known.get(column);
    if (keeps !== undefined) {
      column.name = keeps;
      continue;
    }
    if (column.role === 'document' && isFileKeyFree && !naming.rename.has(fileKey)) {
      column.name = fileKey;
      continue;
    }
    if (column.role !== 'value' && column.role !== 'extra') {
      structure.push(column);
      continue;
    }
    const steps = stepsOf(column);
    const words = steps.join('_');
    const name = column.role === 'extra' ? column.nameParts[0]! : words === '' ? word('value') : words;
    const wanted = naming.rename.get(name) ?? name;
    // an attribute called like an element beside it says so: name_attr, name
    const named =
      isAttribute(column) && elementWords.has(words.toLowerCase()) ? `${wanted}_${word('attr')}` : wanted;
    const candidates =
      words === '' ? [wanted, word('text'), word('text_value')] : [named, `${wanted}_2`, `${wanted}_3`];
    column.name = scope.claim(candidates, column.xpath ?? name, steps, choose);
  }
  for (const column of structure) {
    const candidates = structureCandidates(
      { table, column, uses: uses.get(column.parent)!, steps: stepsOf(column) },
      naming,
    );
    column.name = scope.claim(
      candidates.map((name) => naming.rename.get(name) ?? name),
      `${table.xpath}#${column.role}/${column.parent?.xpath ?? ''}/${column.via.join('/')}/${column.nameParts.join('/')}`,
      column.parent === null ? stepsOf(column) : keySteps(column),
      column.parent === null ? choose : chooseOfKey,
    );
  }
}

function isAttribute({ xpath }: ColumnDraft): boolean {
  return xpath !== null && /\/@[^/]*$/.test(xpath);
}

/**
 * Steps at the start of the columns' names that are left out: where names would be too long, those that all of them have say nothing
 * (`Document/FIToFICstmrCdtTrf/GrpHdr/MsgId` is `grp_hdr_msg_id`).
 */
function unsaidSteps(
  columns: readonly ColumnDraft[],
  { maxBytes }: NamingOptions,
  identifiers: Identifiers,
): number {
  const named = columns.filter(
    ({ role, nameParts }) => role !== 'extra' && (role === 'value' || nameParts.length > 0),
  );
  const isTooLong = (from: number): boolean =>
    named.some(({ nameParts }) => byteLength(nameParts.slice(from).map(identifiers).join('_')) > maxBytes);
  let steps = 0;
  while (isTooLong(steps)) {
    const [first] = named;
    // what is left of a name says at least what it is
    const isShared = named.every(
      ({ role, nameParts }) =>
        nameParts.length > steps + (role === 'value' ? 1 : 2) && nameParts[steps] === first!.nameParts[steps],
    );
    if (!isShared) break;
    steps += 1;
  }
  return steps;
}

/** `uses`: how many keys of the table lead to the same parent; `steps`: what the column is named by. */
function structureCandidates(
  {
    table,
    column,
    uses,
    steps,
  }: {
    readonly table: TableDraft;
    readonly column: ColumnDraft;
    readonly uses: number;
    readonly steps: readonly string[];
  },
  naming: NamingOptions,
): string[] {
  const word = (text: string): string => structureWord(text, naming.nameMode);
  const ending = (name: string, end: string): string =>
    `${lastWords(name, naming.maxBytes - byteLength(`_${end}`))}_${word(end)}`;
  // that name is the file's, in every table
  const keyOf = (name: string): string =>
    ending(name, ending(name, 'key').toLowerCase() === fileKeyName ? 'row_key' : 'key');
  switch (column.role) {
    case 'row_key':
      return [keyOf(table.name), `${table.name}_${word('row_key')}`];
    case 'document':
      return [word(fileKeyName), word(`_${fileKeyName}`)];
    case 'position':
      return [word('position'), word('_position'), word('child_position')];
    case 'parent_key': {
      const parent = column.parent!;
      const via = steps.join('_');
      if (parent === table && uses === 1) return [keyOf(`${word('parent')}_${parent.name}`)];
      const detailed = `${parent.name}_${via}_${word('key')}`;
      if (uses === 1) return [keyOf(parent.name), detailed];
      // the foreign key says which table; the way there is what tells two of them apart
      return byteLength(detailed) > naming.maxBytes
        ? [`${via}_${word('key')}`]
        : [detailed, `${word('parent')}_${detailed}`];
    }
    default: {
      const name = steps.join('_');
      return [name, `_${name}`, `${name}_2`];
    }
  }
}

export function plainTables(tables: readonly TableDraft[]): Table[] {
  return tables.flatMap((table) =>
    table.parts.map((part) => ({
      name: part.name,
      kind: table.kind,
      xpath: table.xpath,
      columns: part.columns.map((column) => finishedColumn(column, table)),
      ...(part.number === 0 ? {} : { continues: table.index }),
      uniqueKeys: [],
      ...(table.documentation === undefined ? {} : { documentation: table.documentation }),
    })),
  );
}

/** -1: no such column */
function at(column: ColumnDraft | null): number {
  return column === null ? -1 : column.index;
}

export function plainNodes(drawing: Drawing): PlanNode[] {
  return drawing.nodes.map((node) => ({
    name: node.name,
    table: node.table.index,
    opensRow: node.opensRow,
    content: node.content,
    textColumn: at(node.text),
    presenceColumn: at(node.presence),
    nilColumn: at(node.nil),
    elementNameColumn: at(node.elementName),
    typeNameColumn: at(node.typeName),
    foldedPositionColumn: at(node.foldedPosition),
    attributes: node.attributes.map(({ name, column }) => ({ name, column: column.index })),
    edges: node.edges.map(plainEdge),
    textTable: node.textTable === null ? -1 : node.textTable.index,
    wildcardTable: node.wildcardTable === null ? -1 : node.wildcardTable.index,
    anyAttributeColumn: at(node.anyAttribute),
    typeEdges: node.typeEdges.map((edge) => ({
      name: edge.name,
      node: edge.node.index,
      parentKeyColumn: at(edge.parentKey),
    })),
    sourceElement: node.element,
    sourceType: node.type,
  }));
}

export function plainEdge(edge: EdgeDraft): PlanEdge {
  return {
    name: edge.name,
    node: edge.node.index,
    parentKeyColumn: edge.parentKey === null ? -1 : edge.parentKey.index,
    minOccurs: edge.minOccurs,
    maxOccurs: edge.maxOccurs,
    ...(edge.substitution ? { substitution: true } : {}),
    ...(edge.head === null
      ? {}
      : { head: { node: edge.head.node.index, parentKeyColumn: edge.head.parentKey.index } }),
  };
}

export type FinishedModel = Omit<RelationalModel, 'mappings'> & { readonly source: SourceModel };
