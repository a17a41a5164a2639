/** The way from an element's node to those of its children. */
import { clarkName, type SourceChild } from '../../../model/source-model.ts';
import type { ColumnDraft, EdgeDraft, NodeDraft } from '../model-builder.ts';
import type { Variant } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';

export function addEdge(
  drawing: DrawingContext,
  parent: NodeDraft,
  child: SourceChild,
  variant: Variant,
  node: NodeDraft,
  parentKey: ColumnDraft | null,
  head: EdgeDraft['head'] = null,
): void {
  const { name } = drawing.model.elements[variant.element]!;
  // two groups may share a member; the content model lets only one of them take it
  const clark = clarkName(name);
  if (parent.edgeNames.has(clark)) return;
  parent.edgeNames.add(clark);
  parent.edges.push({
    name,
    node,
    parentKey,
    minOccurs: variant.substitution || node.elementName !== null ? 0 : child.minOccurs,
    maxOccurs: child.maxOccurs,
    substitution: variant.substitution,
    head,
  });
}
