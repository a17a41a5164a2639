/** Draws the children of an element: rows of their own, rows of a substitution group, or columns of the row above. */
import type { SourceChild } from '../../../model/source-model.ts';
import type { NodeDraft } from '../model-builder.ts';
import { variantsOf } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import { ordinal, type RowContext } from './row-context.ts';
import { addEdge, keysBetween } from './edges.ts';
import { foldChild } from './folded-child.ts';
import { drawGroup } from './substitution-group.ts';
import { drawRow } from './rows.ts';

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
