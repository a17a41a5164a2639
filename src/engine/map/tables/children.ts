/** Draws the children of an element: rows of their own, rows of a substitution group, or columns of the row above. */
import { type SourceChild, clarkName, type QName } from '../../model/source-model.ts';
import {
  type NodeDraft,
  newNode,
  type ColumnDraft,
  hangsFromHead,
  type EdgeDraft,
  type TableDraft,
} from './model-builder.ts';
import { variantsOf, isBare, isLoneWrapper, type Variant } from './type-graph.ts';
import type { DrawingContext } from './drawing-context.ts';
import { ordinal, type RowContext, flag, plainText } from './drawn-tables.ts';
import type { ColumnRole, ColumnType } from '../../model/relational-model.ts';

export function drawChild(
  drawing: DrawingContext,
  parent: NodeDraft,
  row: RowContext,
  child: SourceChild,
): void {
  const declared = drawing.model.elements[child.element]!;
  const variants = variantsOf(drawing.model, child.element);
  const polymorphic = variants.length > 1 || (variants.length === 1 && variants[0]!.substitution);
  const isFolded = drawing.choices.isFolded(parent.type, child) && row.apart?.has(child.element) !== true;
  if (isFolded && !drawing.tables.hadTable(row, declared.name)) {
    foldChild(drawing, parent, row, child, variants, polymorphic);
    return;
  }
  const repeats = child.maxOccurs !== 1;
  if (!repeats) drawing.recordUnfolded(row, parent.type, child);
  const path = [...row.path, declared.name.localName];
  const types = variants.map((variant) => drawing.model.elements[variant.element]!.type);
  const isNarrow = drawing.choices.unionColumns(types) <= drawing.choices.maxUnionColumns();
  const before = polymorphic ? drawing.tables.membersBefore(row, declared.name) : null;
  if (polymorphic && (before === null ? isNarrow : before === 'together')) {
    const xpath = drawing.paths.child(row.xpath, declared.name);
    const at = { ...drawing.tables.identityAt(row, declared.name), repeats };
    const table = drawing.tables.groupTable(child.element, path, xpath, at);
    const keys = keysBetween(drawing, row, child, table, declared.name, true);
    drawing.tables.column(table, '/position', { role: 'position', type: ordinal });
    for (const variant of variants) {
      const { name } = drawing.model.elements[variant.element]!;
      const node = drawRow(drawing, table, variant, true, drawing.paths.child(row.xpath, name));
      addEdge(drawing, parent, child, variant, node, keys);
    }
    return;
  }
  if (polymorphic) {
    drawGroup(drawing, parent, row, child, variants, path);
    return;
  }
  for (const variant of variants) {
    const element = drawing.model.elements[variant.element]!;
    const ownPath = [...row.path, element.name.localName];
    const xpath = drawing.paths.child(row.xpath, element.name);
    const at = { ...drawing.tables.identityAt(row, element.name), repeats };
    const table = drawing.tables.tableFor(
      variant.element,
      element.type,
      ownPath,
      xpath,
      at,
      child.documentation,
    );
    const keys = keysBetween(drawing, row, child, table, element.name, false);
    drawing.tables.column(table, '/position', { role: 'position', type: ordinal });
    addEdge(drawing, parent, child, variant, drawRow(drawing, table, variant, false, xpath), keys);
  }
}

// Children that have no row of their own.

/** Draws a child that occurs at most once: its values become columns of the row above. */
export function foldChild(
  drawing: DrawingContext,
  parent: NodeDraft,
  row: RowContext,
  child: SourceChild,
  variants: readonly Variant[],
  polymorphic: boolean,
): void {
  const declared = drawing.model.elements[child.element]!;
  const columnKey = `${row.columnKey}/${drawing.uses.element(declared.name)}`;
  // a wrapper around all content of the row's element adds nothing to names
  const isSaid = row.nameParts.length > 0 || !isLoneWrapper(drawing.declared, parent.type);
  const nameParts = isSaid ? [...row.nameParts, declared.name.localName] : row.nameParts;
  for (const variant of variants) {
    const element = drawing.model.elements[variant.element]!;
    const type = drawing.model.types[element.type]!;
    const node = newNode({
      name: element.name,
      table: row.table,
      opensRow: false,
      element: variant.element,
      type: element.type,
    });
    drawing.nodes.push(node);
    const xpath = drawing.paths.child(row.xpath, element.name);
    const sure = child.minOccurs >= 1 && !element.nillable && !polymorphic;
    const inner: RowContext = {
      table: row.table,
      columnKey,
      nameParts,
      path: [...row.path, element.name.localName],
      xpath,
      guarantor: sure ? row.guarantor : null,
      documentation: child.documentation ?? element.documentation,
      met: drawing.choices.observedContentOf(parent.type, child),
    };
    const structure = (word: string, role: ColumnDraft['role'], columnType: ColumnType): ColumnDraft =>
      drawing.tables.column(row.table, `${columnKey}/${word}`, {
        role,
        type: columnType,
        nameParts: [...nameParts, word],
        xpath: role === 'folded_position' ? null : xpath,
        steps: columnKey,
        documentation: role === 'presence' ? inner.documentation : undefined,
      });
    if (element.nillable) node.nil = structure('nil', 'nil', flag);
    // queries on columns of the last version also find later rows
    const goesOn = (role: ColumnRole): boolean => drawing.tables.hadColumn(row.table, role, columnKey);
    if (polymorphic || goesOn('element_name'))
      node.elementName = structure('element', 'element_name', plainText);
    if (!child.orderImplied) node.foldedPosition = structure('position', 'folded_position', ordinal);
    if (!polymorphic && isBare(type)) {
      node.presence = drawing.tables.column(row.table, `${columnKey}/present`, {
        role: 'presence',
        type: flag,
        nameParts,
        xpath,
        steps: columnKey,
        documentation: inner.documentation,
      });
    } else if (
      (!polymorphic && type.complex && !sure && !drawing.choices.alwaysShows(element.type)) ||
      goesOn('presence')
    ) {
      node.presence = structure('present', 'presence', flag);
    }
    drawing.fill(node, inner);
    addEdge(drawing, parent, child, variant, node, {});
  }
}

// Substitution groups too wide for one table.

/**
 * Draws a substitution group that is too wide for one table: rows of its head hold the position and the member's name, and each member's
 * own row refers to one of them.
 */
export function drawGroup(
  drawing: DrawingContext,
  parent: NodeDraft,
  row: RowContext,
  child: SourceChild,
  variants: readonly Variant[],
  path: readonly string[],
): void {
  const declared = drawing.model.elements[child.element]!;
  const xpath = drawing.paths.child(row.xpath, declared.name);
  const at = drawing.tables.identityAt(row, declared.name);
  const table = drawing.tables.headTable(child.element, path, xpath, at);
  const parentKey = drawing.tables.childKey(table, row, declared.name);
  drawing.tables.column(table, '/position', { role: 'position', type: ordinal });
  let headNode = table.nodeByKey.get('head');
  if (headNode === undefined) {
    headNode = newNode({
      name: declared.name,
      table,
      opensRow: true,
      element: child.element,
      type: declared.type,
    });
    drawing.nodes.push(headNode);
    table.nodeByKey.set('head', headNode);
    headNode.elementName = drawing.tables.elementColumn(table, xpath);
    headNode.elementName.requiredBy.add(headNode);
  }
  const head = { node: headNode, parentKey };
  for (const variant of variants) {
    const element = drawing.model.elements[variant.element]!;
    const memberPath = [...row.path, element.name.localName];
    const own = drawing.tables.memberTable(
      variant.element,
      element.type,
      memberPath,
      drawing.paths.child(row.xpath, element.name),
    );
    // an earlier version's table may belong to the head and to a member's type: one row represents both
    if (own === table) {
      addEdge(drawing, parent, child, variant, drawRow(drawing, own, variant, true), { parentKey });
      continue;
    }
    const hangsFrom = drawing.tables.parentKey(own, table, [hangsFromHead], '/(head)');
    const keys = { parentKey: hangsFrom, head };
    addEdge(drawing, parent, child, variant, drawRow(drawing, own, variant, false), keys);
  }
}

// The edge from an element's node to those of its children.

/** The keys that link the rows of an edge; none if the child has no row. */
type EdgeKeys = Pick<EdgeDraft, 'parentKey' | 'childKey' | 'head'>;

/**
 * Creates the key between a row and a child's row. If the child occurs at most once and several places share its table, the row above has
 * the key, so that the table does not need a key for each of its places.
 */
export function keysBetween(
  drawing: DrawingContext,
  row: RowContext,
  child: SourceChild,
  table: TableDraft,
  name: QName,
  isGroup: boolean,
): Partial<EdgeKeys> {
  const declared = drawing.model.elements[child.element]!;
  const said = child.documentation ?? declared.documentation;
  if (!drawing.holdsKey(row, child, { table, name, isGroup }))
    return { parentKey: drawing.tables.childKey(table, row, name, said) };
  const childKey = drawing.tables.heldKey(table, row, name, said);
  if (child.minOccurs > 0 && row.guarantor !== null) childKey.requiredBy.add(row.guarantor);
  return { childKey };
}

export function addEdge(
  drawing: DrawingContext,
  parent: NodeDraft,
  child: SourceChild,
  variant: Variant,
  node: NodeDraft,
  { parentKey = null, childKey = null, head = null }: Partial<EdgeKeys>,
): void {
  const { name } = drawing.model.elements[variant.element]!;
  // two groups may share a member; the content model lets only one of them match it
  const clark = clarkName(name);
  if (parent.edgeNames.has(clark)) return;
  parent.edgeNames.add(clark);
  parent.edges.push({
    name,
    node,
    parentKey,
    role: null,
    childKey,
    minOccurs: variant.substitution || node.elementName !== null ? 0 : child.minOccurs,
    maxOccurs: child.maxOccurs,
    substitution: variant.substitution,
    head,
  });
}

// The node that opens a row for an element.

/**
 * Returns the node that opens a row of `table` for an element. It is drawn once per type and kind of element, so recursion ends. `xpath`:
 * the path of the element, if its table has another's. The head of a substitution group may be abstract, so that no document has its path,
 * and its members may have a child of the same name and different types.
 */
export function drawRow(
  drawing: DrawingContext,
  table: TableDraft,
  variant: Variant,
  polymorphic: boolean,
  xpath = table.xpath,
): NodeDraft {
  const element = drawing.model.elements[variant.element]!;
  const identity = `${element.type}|${element.nillable}|${polymorphic}`;
  const known = table.nodeByKey.get(identity);
  if (known !== undefined) return known;
  const node = newNode({
    name: element.name,
    table,
    opensRow: true,
    element: variant.element,
    type: element.type,
  });
  drawing.nodes.push(node);
  table.nodeByKey.set(identity, node);
  const row: RowContext = {
    table,
    columnKey: '',
    nameParts: [],
    // tables below a table that several places share are named after that table, not after the first of its places
    path: table.ownName === null ? table.path : [...table.path.slice(0, -1), table.ownName],
    xpath,
    guarantor: element.nillable ? null : node,
  };
  if (element.nillable) node.nil = drawing.tables.nilColumn(table);
  if (polymorphic) {
    node.elementName = drawing.tables.elementColumn(table, xpath);
    node.elementName.requiredBy.add(node);
  }
  drawing.later(() => drawing.fill(node, row));
  return node;
}
