/** The node that opens a row for an element. */
import { newNode, type NodeDraft, type TableDraft } from '../model-builder.ts';
import type { Variant } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import type { RowContext } from './row-context.ts';

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
