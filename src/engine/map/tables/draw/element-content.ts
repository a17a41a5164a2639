/** What an element of a type holds: attributes, text, wildcards, children, and the types that xsi:type may put in its place. */
import type { ValueType } from '../../../model/source-model.ts';
import { columnTypeOf, itemBaseOf } from '../column-types.ts';
import { hangsFromHead, newNode, type NodeDraft } from '../model-builder.ts';
import { derivedTypesOf, isTextAlone } from '../type-graph.ts';
import { drawChild } from './children.ts';
import type { DrawingContext } from './context.ts';
import { plainText, type Place } from './place.ts';

const plainValue: ValueType = { variety: 'atomic', base: 'string', facets: {} };

/** Draws what an element of the node's type holds, and the types that xsi:type may put in its place. */
export function fillElement(drawing: DrawingContext, node: NodeDraft, place: Place): void {
  const derived = derivedTypesOf(drawing.model, node.type);
  if (derived.length === 0) {
    fillType(drawing, node, place);
    return;
  }
  const union = drawing.choices.unionColumns([node.type, ...derived]);
  const ownTables = union > drawing.choices.maxUnionColumns() && node.opensRow && place.columnKey === '';
  // a folded element's row belongs to another node, which cannot answer for what the derivation leaves out; and where derived
  // types have tables of their own, their rows here are empty
  fillType(drawing, node, node.opensRow && !ownTables ? place : { ...place, guarantor: null });
  node.typeName = drawing.tables.column(place.table, `${place.columnKey}/type`, {
    role: 'type_name',
    type: plainText,
    nameParts: [...place.nameParts, 'type'],
    xpath: place.xpath,
    steps: place.columnKey,
  });
  for (const type of derived) {
    const definition = drawing.model.types[type]!;
    if (definition.name === null) continue;
    if (ownTables) {
      drawSubtype(drawing, node, type, place);
      continue;
    }
    const alternative = newNode({
      name: node.name,
      table: place.table,
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
    const guarantor = node.opensRow && place.guarantor !== null ? alternative : null;
    fillType(drawing, alternative, { ...place, guarantor });
    node.typeEdges.push({ name: definition.name, node: alternative, parentKey: null });
  }
}

/** A derivation too wide to share its head's table: a table of its own whose rows hang from the head's row, one to one. */
function drawSubtype(drawing: DrawingContext, head: NodeDraft, type: number, place: Place): void {
  const definition = drawing.model.types[type]!;
  const path = [...place.path.slice(0, -1), definition.name!.localName];
  const steps = `${place.columnKey}/(as ${drawing.uses.element(definition.name!)})`;
  const at = {
    identity: `at/${place.table.index}/${place.columnKey}#${type}`,
    place: { under: place.table, steps },
  };
  const table = drawing.tables.tableFor(head.element, type, path, place.xpath, at);
  const { nillable } = drawing.model.elements[head.element]!;
  // elements declared to be of the type have nodes of their own, which lead on to what is derived from it
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
        ...place,
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

function fillType(drawing: DrawingContext, node: NodeDraft, place: Place): void {
  const type = drawing.model.types[node.type]!;
  node.content = type.content;
  for (const attribute of type.attributes) {
    const steps = `/${drawing.uses.attribute(attribute.name)}`;
    const column = drawing.tables.valueColumn(place, steps, {
      steps: place.columnKey + steps,
      nameParts: [...place.nameParts, attribute.name.localName],
      xpath: drawing.paths.attribute(place.xpath, attribute.name),
      type: columnTypeOf(attribute.type, drawing.textLength),
      sourceType: itemBaseOf(attribute.type),
      keepsForm: attribute.type.guessed === true,
      documentation: attribute.documentation,
    });
    const isSure = attribute.required && attribute.type.mayBeEmpty !== true;
    if (isSure && place.guarantor !== null) column.requiredBy.add(place.guarantor);
    node.attributes.push({ name: attribute.name, column });
  }
  const value = isTextAlone(type) ? plainValue : type.content === 'simple' ? type.value : null;
  if (value !== null) {
    node.content = 'simple';
    node.text = drawing.tables.valueColumn(place, '/text()', {
      steps: place.columnKey,
      nameParts: place.nameParts,
      xpath: place.xpath,
      type: columnTypeOf(value, drawing.textLength),
      sourceType: itemBaseOf(value),
      keepsForm: value.guessed === true,
      documentation: place.columnKey === '' ? undefined : drawing.model.elements[node.element]!.documentation,
    });
    // an empty element with a default is valid, and its column stays empty where the type has no empty value
    const { default: constant, fixed = constant } = drawing.model.elements[node.element]!;
    const mayBeEmpty = value.mayBeEmpty ?? (fixed !== undefined && node.text.type.kind !== 'text');
    if (place.guarantor !== null && !mayBeEmpty) node.text.requiredBy.add(place.guarantor);
  }
  if (type.anyAttribute !== null) {
    node.anyAttribute = drawing.tables.column(place.table, `${place.columnKey}/@*`, {
      role: 'content',
      type: plainText,
      nameParts: [...place.nameParts, 'any_attributes'],
      steps: `${place.columnKey}/@*`,
    });
  }
  if (type.content === 'mixed' && value === null) node.textTable = drawing.tables.contentTable(place, 'text');
  if (type.anyElement !== null) node.wildcardTable = drawing.tables.contentTable(place, 'wildcard');
  for (const child of type.children) drawChild(drawing, node, place, child);
}
