/** The edge from an element's node to those of its children. */
import { clarkName, type QName, type SourceChild } from '../../../model/source-model.ts';
import type { EdgeDraft, NodeDraft, TableDraft } from '../model-builder.ts';
import type { Variant } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import type { RowContext } from './row-context.ts';

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
