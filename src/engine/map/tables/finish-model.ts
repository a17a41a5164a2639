/** Settles names, order and indexes of a drawn model and writes it as plain data. */
import type { Column, PlanEdge, PlanNode, RelationalModel, Table } from '../../model/relational-model.ts';
import type { SourceModel, SourceType, SourceWildcard } from '../../model/source-model.ts';
import { xmlNamespace } from '../../model/name-labels.ts';

import {
  finishedColumn,
  newColumn,
  type ColumnDraft,
  type Drawing,
  type EdgeDraft,
  type TableDraft,
} from './model-builder.ts';
import { repeatedSteps } from '../names/distinctive-steps.ts';
import {
  constraintName,
  NameScope,
  rememberedIdentifiers,
  type NamingOptions,
} from '../names/identifiers.ts';
import { nameColumns, omittedSteps, type ReadableNames } from '../names/columns.ts';
import { createNamespaceWordChooser } from '../names/words.ts';
import { nameContinuations, nameTables } from '../names/tables.ts';
import { noPreviousNames, type PreviousNames, useOfDraft } from '../names/history.ts';
import { createRoles } from '../names/type-names.ts';
import { splitTable } from './wide-rows.ts';

/**
 * A column that `-R` adds: to every table, filled with the same kind of value in every row; or to the tables that documents start in, which
 * may have no value for it.
 */
export interface AddedColumn {
  readonly name: string;
  readonly type: Column['type'];
  readonly rootsOnly?: true;
}

/** `source`: the source of the drawing. */
export function finishTables(
  drawing: Drawing,
  source: SourceModel,
  naming: NamingOptions,
  extras: readonly AddedColumn[],
  previous: PreviousNames = noPreviousNames,
): void {
  const identifiers = rememberedIdentifiers(naming.nameMode);
  const roles = createRoles(drawing.prunedOf ?? source, identifiers);
  nameTables(drawing.tables, {
    naming,
    identifiers,
    previous,
    roles,
    chooseNamespaceWords: createNamespaceWordChooser(drawing, source.namespaces, identifiers),
  });
  // values are identified by position: those of every table come first
  const ordered = extras.toSorted((a, b) => Number(a.rootsOnly ?? false) - Number(b.rootsOnly ?? false));
  for (const table of drawing.tables) {
    for (const { type, name, rootsOnly: isOptional = false } of ordered)
      if (!isOptional || table.holdsRoots)
        table.columns.push(newColumn({ role: 'extra', type, nameParts: [name], isOptional }));
  }
  const unsaid = new Map(
    drawing.tables.map((table) => [table, omittedSteps(table.columns, naming, identifiers)]),
  );
  const keys = new Set(drawing.tables.map(({ name }) => `${name}_key`.toLowerCase()));
  const readable: ReadableNames = {
    prunedOf: drawing.prunedOf,
    isKeyOfTable: (name) => keys.has(name.toLowerCase()),
    roles,
    isRepeated: repeatedSteps(() =>
      drawing.tables.map(({ columns }) => columns.map(({ nameParts }) => nameParts.map(identifiers))),
    ),
  };
  for (const table of drawing.tables) {
    nameColumns(table, naming, identifiers, previous, unsaid, readable);
    for (const column of table.columns) {
      const before = previous.columnType(table.usePath, useOfDraft(column, table));
      if (before !== undefined) column.type = continuedType(column.type, before);
    }
    splitTable(table, previous.parts(table.usePath), (column) => useOfDraft(column, table));
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

/** Keeps what a target of an earlier version requires: instants stay instants, and text of variable length stays that. */
function continuedType(type: Column['type'], before: Column['type']): Column['type'] {
  if (before.kind === 'timestamptz' && type.kind === 'timestamp') return { ...type, kind: 'timestamptz' };
  if (before.kind !== 'text' || before.fixed === true || type.fixed !== true) return type;
  const { fixed: _, ...shorter } = type;
  return shorter;
}

/** `isKeyed`: whether an id becomes a key, by the names of its table and column. */
export function plainTables(
  tables: readonly TableDraft[],
  isKeyed: (table: string, column: string) => boolean,
  maxBytes: number,
): Table[] {
  // long names of tables often begin the same
  const keyNames = new NameScope(maxBytes);
  return tables.flatMap((table) =>
    table.parts.map((part) => {
      const columns = part.columns.map((column) => finishedColumn(column, table));
      return {
        name: part.name,
        kind: table.kind,
        xpath: table.xpath,
        path: table.usePath,
        columns,
        ...(part.number === 0 ? {} : { continues: table.index }),
        uniqueKeys: idKeys(part.name, columns, maxBytes)
          .filter(({ columns: [, id] }) => isKeyed(part.name, columns[id!]!.name))
          .map((key) => ({ ...key, name: keyNames.claimName([key.name], key.name) })),
        ...(table.documentation === undefined ? {} : { documentation: table.documentation }),
      };
    }),
  );
}

/** Returns the keys of ids: an `xs:ID` is unique in its document (XML Schema 1.0 part 1, 3.15.4, Validation Root Valid (ID/IDREF)). */
function idKeys(table: string, columns: readonly Column[], maxBytes: number): Table['uniqueKeys'] {
  const document = columns.findIndex(({ role }) => role === 'document');
  if (document === -1) return [];
  return columns.flatMap(({ name, sourceType, type }, at) =>
    sourceType === 'ID' && type.list !== true
      ? [{ name: constraintName(table, name, 'ukey', maxBytes), columns: [document, at] }]
      : [],
  );
}

/** -1: no such column */
function at(column: ColumnDraft | null): number {
  return column === null ? -1 : column.index;
}

export function plainNodes(drawing: Drawing, types: SourceModel['types']): PlanNode[] {
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
    ...narrowed('anyElementNamespaces', node.wildcardTable === null ? null : types[node.type]?.anyElement),
    ...narrowed('anyAttributeNamespaces', node.anyAttribute === null ? null : types[node.type]?.anyAttribute),
    typeEdges: node.typeEdges.map((edge) => ({
      name: edge.name,
      node: edge.node.index,
      parentKeyColumn: at(edge.parentKey),
    })),
    sourceElement: node.element,
    sourceType: node.type,
    ...spaceOf(types[node.type]),
    ...(node.keptBeside === null ? {} : { keptBeside: node.keptBeside }),
  }));
}

/** The default of xml:space that a type declares. */
function spaceOf(type: SourceType | undefined): Pick<PlanNode, 'space'> | null {
  const declared = type?.attributes.find(
    ({ name }) => name.localName === 'space' && name.namespaceUri === xmlNamespace,
  );
  const space = declared?.fixed ?? declared?.default;
  return space === 'preserve' || space === 'default' ? { space } : null;
}

/** Returns nothing for a wildcard that allows every namespace. */
function narrowed<Name extends 'anyElementNamespaces' | 'anyAttributeNamespaces'>(
  name: Name,
  wildcard: SourceWildcard | null | undefined,
): Pick<PlanNode, Name> | null {
  if (wildcard == null || wildcard.namespaces === '##any') return null;
  return { [name]: wildcard.namespaces } as Pick<PlanNode, Name>;
}

export function plainEdge(edge: EdgeDraft): PlanEdge {
  return {
    name: edge.name,
    node: edge.node.index,
    parentKeyColumn: at(edge.parentKey),
    ...(edge.role === null ? {} : { role: edge.role }),
    ...(edge.childKey === null ? {} : { childKeyColumn: edge.childKey.index }),
    minOccurs: edge.minOccurs,
    maxOccurs: edge.maxOccurs,
    ...(edge.substitution ? { substitution: true } : {}),
    ...(edge.head === null
      ? {}
      : { head: { node: edge.head.node.index, parentKeyColumn: edge.head.parentKey.index } }),
  };
}

export type FinishedModel = Omit<RelationalModel, 'mappings'> & { readonly source: SourceModel };
