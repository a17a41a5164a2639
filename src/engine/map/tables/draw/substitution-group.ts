/** Substitution groups too wide for one table. */
import type { SourceChild } from '../../../model/source-model.ts';
import { hangsFromHead, newNode, type NodeDraft } from '../model-builder.ts';
import type { Variant } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import { ordinal, type RowContext } from './row-context.ts';
import { addEdge } from './edges.ts';
import { drawRow } from './rows.ts';

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
