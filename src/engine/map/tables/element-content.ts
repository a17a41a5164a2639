/** Draws the content of an element of a type: attributes, text, wildcards, children, and the types that xsi:type may substitute. */
import {
  isValueName,
  type SourceAttribute,
  type SourceElement,
  type SourceType,
  type ValueType,
} from '../../model/source-model.ts';
import type { ValueConstraint } from '../../model/relational-model.ts';
import { columnTypeOf, formOf, itemBaseOf, type ColumnTypeOptions } from './column-types.ts';
import { hangsFromHead, newNode, type NodeDraft } from './model-builder.ts';
import { formOfFixed, type FormOfValues } from './written-forms.ts';
import { derivedTypesOf, isTextAlone } from './type-graph.ts';
import { drawChild } from './children.ts';
import type { DrawingContext } from './drawing-context.ts';
import { plainText, type RowContext } from './drawn-tables.ts';

const plainValue: ValueType = { variety: 'atomic', base: 'string', facets: {} };

/** Draws the content of an element of the node's type, and of the types that xsi:type may substitute. */
export function fillElement(drawing: DrawingContext, node: NodeDraft, at: RowContext): void {
  const derived = derivedTypesOf(drawing.model, node.type);
  // documents had no xsi:type in an element that is folded for the content that they had
  if (derived.length === 0 || at.met != null) {
    fillType(drawing, node, at);
    return;
  }
  const union = drawing.choices.unionColumns([node.type, ...derived]);
  const before = drawing.tables.typesBefore(at.table);
  const isApart = before === null ? union > drawing.choices.maxUnionColumns() : before === 'apart';
  const ownTables = isApart && node.opensRow && at.columnKey === '';
  const row = ownTables ? at : { ...at, apart: childrenApart(drawing, [node.type, ...derived]) };
  // a folded element's row belongs to another node, which cannot guarantee content that the derivation leaves out; and if derived types
  // have tables of their own, their rows here are empty
  fillType(drawing, node, node.opensRow && !ownTables ? row : { ...row, guarantor: null });
  node.typeName = drawing.tables.column(row.table, `${row.columnKey}/type`, {
    role: 'type_name',
    type: plainText,
    nameParts: [...row.nameParts, 'type'],
    xpath: row.xpath,
    steps: row.columnKey,
  });
  for (const type of derived) {
    const definition = drawing.model.types[type]!;
    if (definition.name === null) continue;
    if (ownTables) {
      drawSubtype(drawing, node, type, row);
      continue;
    }
    const alternative = newNode({
      name: node.name,
      table: row.table,
      opensRow: node.opensRow,
      element: node.element,
      type,
    });
    drawing.nodes.push(alternative);
    Object.assign(alternative, {
      nil: node.nil,
      elementName: node.elementName,
      typeName: node.typeName,
      presence: node.presence,
      foldedPosition: node.foldedPosition,
    });
    if (node.opensRow) node.elementName?.requiredBy.add(alternative);
    const guarantor = node.opensRow && row.guarantor !== null ? alternative : null;
    fillType(drawing, alternative, { ...row, guarantor });
    node.typeEdges.push({ name: definition.name, node: alternative, parentKey: null });
  }
}

/** Returns children, by element, that one of the types gives rows of their own. */
function childrenApart({ model, choices }: DrawingContext, types: readonly number[]): ReadonlySet<number> {
  const apart = new Set<number>();
  for (const type of types)
    for (const child of model.types[type]!.children)
      if (!choices.isFolded(type, child)) apart.add(child.element);
  return apart;
}

/** Draws a derivation that is too wide to share its head's table: a table of its own whose rows refer one to one to the head's rows. */
function drawSubtype(drawing: DrawingContext, head: NodeDraft, type: number, row: RowContext): void {
  const definition = drawing.model.types[type]!;
  const path = [...row.path.slice(0, -1), definition.name!.localName];
  const steps = `${row.columnKey}/(as ${drawing.uses.element(definition.name!)})`;
  const at = {
    identity: `at/${row.table.index}/${row.columnKey}#${type}`,
    origin: { under: row.table, steps },
    repeats: false,
  };
  const table = drawing.tables.tableFor(head.element, type, path, row.xpath, at);
  const { nillable } = drawing.model.elements[head.element]!;
  // elements declared to have the type get nodes of their own, which lead to the types derived from it
  const identity = `subtype|${type}|${nillable}`;
  let node = table.nodeByKey.get(identity);
  if (node === undefined) {
    node = newNode({ name: head.name, table, opensRow: true, element: head.element, type });
    if (nillable) node.nil = drawing.tables.nilColumn(table);
    drawing.nodes.push(node);
    table.nodeByKey.set(identity, node);
    const target = node;
    drawing.later(() =>
      fillType(drawing, target, {
        ...row,
        table,
        path,
        columnKey: '',
        nameParts: [],
        guarantor: nillable ? null : target,
      }),
    );
  }
  const parentKey = drawing.tables.parentKey(table, head.table, [hangsFromHead], '/(head)');
  head.typeEdges.push({ name: definition.name!, node, parentKey });
}

function fillType(drawing: DrawingContext, node: NodeDraft, row: RowContext): void {
  const type = drawing.model.types[node.type]!;
  node.content = type.content;
  node.keptBeside = drawing.keptBeside.get(node.type) ?? null;
  const hadTextRows = type.content === 'mixed' && drawing.tables.hadTextTable(row);
  const isText = !hadTextRows && (isTextAlone(type) || row.met?.isText === true);
  const value = isText ? plainValue : type.content === 'simple' ? type.value : null;
  // columns that qualify a value come after it; columns that identify a row come first
  const isFolded = row.columnKey !== '';
  if (value !== null && isFolded) drawText(drawing, node, row, value);
  drawAttributes(drawing, node, row);
  if (value !== null && !isFolded) drawText(drawing, node, row, value);
  if (type.anyAttribute !== null) {
    node.anyAttribute = drawing.tables.column(row.table, `${row.columnKey}/@*`, {
      role: 'content',
      type: plainText,
      nameParts: [...row.nameParts, 'any_attributes'],
      steps: `${row.columnKey}/@*`,
      xpath: row.xpath,
    });
  }
  if (hadTextRows || (row.met == null && type.content === 'mixed' && value === null)) {
    // only one of the two is kept, once the content of documents is known
    if (!hadTextRows && drawing.textsByPlace && node.opensRow) drawText(drawing, node, row, plainValue);
    node.textTable = drawing.tables.contentTable(row, 'text');
  }
  if (row.met == null && type.anyElement !== null)
    node.wildcardTable = drawing.tables.contentTable(row, 'wildcard');
  for (const child of type.children)
    if (row.met == null || row.met.children.has(child.element)) drawChild(drawing, node, row, child);
}

function drawText(drawing: DrawingContext, node: NodeDraft, row: RowContext, value: ValueType): void {
  node.content = 'simple';
  const declared = drawing.model.elements[node.element]!;
  // a table of a type has rows of elements that are declared elsewhere
  const isOfOneElement = row.columnKey !== '' || !row.table.shared;
  node.text = drawing.tables.valueColumn(row, '/text()', {
    steps: row.columnKey,
    nameParts: row.nameParts,
    xpath: row.xpath,
    type: columnTypeOf(value, drawing.columnTypes),
    sourceType: itemBaseOf(value),
    ...elementForm(value, declared, drawing.columnTypes),
    hasOffsets: value.offsets === true,
    members: value.memberTypes,
    documentation: row.documentation,
    constraint: isOfOneElement ? constraintOf(declared) : null,
  });
  // an empty element with a default is valid, and its column stays empty if the type has no empty value
  const { default: constant, fixed = constant } = declared;
  const mayBeEmpty = value.mayBeEmpty ?? (fixed !== undefined && node.text.type.kind !== 'text');
  if (row.guarantor !== null && !mayBeEmpty) node.text.requiredBy.add(row.guarantor);
}

/** Keeps the form of fixed values, because libxml2 compares an element of a fixed value by its text. */
function elementForm(
  value: ValueType,
  { fixed }: Pick<SourceElement, 'fixed'>,
  options: ColumnTypeOptions,
): FormOfValues {
  const form = formOf(value, options);
  return fixed === undefined || form.keepsForm
    ? form
    : formOfFixed(fixed, columnTypeOf(value, options), form);
}

function drawAttributes(drawing: DrawingContext, node: NodeDraft, row: RowContext): void {
  const type = drawing.model.types[node.type]!;
  const isFolded = row.columnKey !== '';
  const isValue = (attribute: SourceAttribute): boolean =>
    isValueName(attribute.name) && type.value === null && type.content !== 'mixed';
  const [values, others] = [type.attributes.filter(isValue), type.attributes.filter((one) => !isValue(one))];
  for (const attribute of isFolded ? [...values, ...others] : type.attributes) {
    const steps = `/${drawing.uses.attribute(attribute.name)}`;
    const column = drawing.tables.valueColumn(row, steps, {
      steps: row.columnKey + steps,
      // the value of an element that has no text gets the element's name
      nameParts: isValue(attribute) ? row.nameParts : [...row.nameParts, attribute.name.localName],
      xpath: drawing.paths.attribute(row.xpath, attribute.name),
      type: columnTypeOf(attribute.type, drawing.columnTypes),
      sourceType: itemBaseOf(attribute.type),
      ...formOf(attribute.type, drawing.columnTypes),
      hasOffsets: attribute.type.offsets === true,
      members: attribute.type.memberTypes,
      documentation: attribute.documentation ?? documentationOfValue(type, attribute, row),
      constraint: constraintOf(attribute),
    });
    const isSure = attribute.required && attribute.type.mayBeEmpty !== true;
    if (isSure && row.guarantor !== null) column.requiredBy.add(row.guarantor);
    node.attributes.push({ name: attribute.name, column });
  }
}

function constraintOf({
  default: usual,
  fixed,
}: Pick<SourceAttribute, 'default' | 'fixed'>): ValueConstraint | null {
  if (fixed !== undefined) return { kind: 'fixed', value: fixed };
  return usual === undefined ? null : { kind: 'default', value: usual };
}

/** Returns the documentation of an element whose value is an attribute, for use if the attribute itself has none. */
export function documentationOfValue(
  type: SourceType,
  { name }: SourceAttribute,
  { documentation }: Pick<RowContext, 'documentation'>,
): string | undefined {
  const holdsValue = type.content === 'empty' || (type.content === 'elements' && name.localName === 'value');
  return holdsValue ? documentation : undefined;
}
