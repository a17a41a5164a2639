/** Children of an element: rows of their own, rows of a substitution group, or columns of the row they stand in. */
import type { SourceChild } from '../../../model/source-model.ts';
import type { NodeDraft } from '../model-builder.ts';
import { variantsOf } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import { ordinal, type Place } from './place.ts';
import { addEdge } from './edges.ts';
import { foldChild } from './folded-child.ts';
import { drawGroup } from './substitution-group.ts';
import { drawRow } from './rows.ts';

export function drawChild(
  drawing: DrawingContext,
  parent: NodeDraft,
  place: Place,
  child: SourceChild,
): void {
  const declared = drawing.model.elements[child.element]!;
  const variants = variantsOf(drawing.model, child.element);
  const polymorphic = variants.length > 1 || (variants.length === 1 && variants[0]!.substitution);
  if (drawing.choices.isFolded(parent.type, child)) {
    foldChild(drawing, parent, place, child, variants, polymorphic);
    return;
  }
  const path = [...place.path, declared.name.localName];
  const types = variants.map((variant) => drawing.model.elements[variant.element]!.type);
  const together = polymorphic && drawing.choices.unionColumns(types) <= drawing.choices.maxUnionColumns();
  if (together) {
    const xpath = drawing.paths.child(place.xpath, declared.name);
    const table = drawing.tables.groupTable(
      child.element,
      path,
      xpath,
      drawing.tables.placeOf(place, declared.name),
    );
    const parentKey = drawing.tables.childKey(table, place, declared.name);
    drawing.tables.column(table, '/position', { role: 'position', type: ordinal });
    for (const variant of variants) {
      addEdge(drawing, parent, child, variant, drawRow(drawing, table, variant, true), parentKey);
    }
    return;
  }
  if (polymorphic) {
    drawGroup(drawing, parent, place, child, variants, path);
    return;
  }
  for (const variant of variants) {
    const element = drawing.model.elements[variant.element]!;
    const ownPath = [...place.path, element.name.localName];
    const xpath = drawing.paths.child(place.xpath, element.name);
    const at = drawing.tables.placeOf(place, element.name);
    const table = drawing.tables.tableFor(variant.element, element.type, ownPath, xpath, at);
    const parentKey = drawing.tables.childKey(table, place, element.name);
    drawing.tables.column(table, '/position', { role: 'position', type: ordinal });
    addEdge(drawing, parent, child, variant, drawRow(drawing, table, variant, false), parentKey);
  }
}
