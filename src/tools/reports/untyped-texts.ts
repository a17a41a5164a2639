/**
 * Finds elements that may hold anything (`xs:anyType`), and held text alone: they get rows of their own, but `--prune` makes a column
 * of them.
 */
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { xsiNamespace } from '../../engine/model/name-labels.ts';
import type { PlanNode, RelationalModel } from '../../engine/model/relational-model.ts';
import { clarkName } from '../../engine/model/source-model.ts';

/** paths that the line names; the rest are counted */
const namedPaths = 5;

/** The line of the log, or null if documents had no such element. */
export function adviceOnUntyped(model: RelationalModel, statistics: DocumentStatistics): string | null {
  const paths = untypedTexts(model, statistics);
  if (paths.length === 0) return null;
  const rest = paths.length - namedPaths;
  const named = paths.slice(0, namedPaths).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `the schema gives no type to ${named}, and documents have only text there: the text is in rows of its own; --prune makes columns of it in a new target`;
}

function untypedTexts(
  { nodes, roots }: RelationalModel,
  { elements, roots: documents }: DocumentStatistics,
): string[] {
  const found: string[] = [];
  const visited = new Uint8Array(elements.length);
  const open: { readonly element: number; readonly xpath: string; readonly node: PlanNode }[] = [];
  const follow = (element: number, above: string, steps: Pick<PlanNode, 'edges'>['edges']): void => {
    const name = elements[element]!;
    const edge = visited[element] === 1 ? undefined : steps.find((step) => sameName(step.name, name));
    if (edge === undefined) return;
    visited[element] = 1;
    open.push({ element, xpath: `${above}/${name.localName}`, node: nodes[edge.node]! });
  };
  for (const element of documents) follow(element, '', roots);
  for (const { element, xpath, node } of open) {
    const { withChildren, withText, attributes, children } = elements[element]!;
    const hasTextAlone =
      withText > 0 && withChildren === 0 && attributes.every((one) => one.namespaceUri === xsiNamespace);
    if (hasTextAlone && mayHoldAnything(node)) found.push(xpath);
    for (const child of children) follow(child.element, xpath, node.edges);
  }
  return found;
}

function mayHoldAnything({ textTable, wildcardTable, edges }: PlanNode): boolean {
  return textTable >= 0 && wildcardTable >= 0 && edges.length === 0;
}

function sameName(a: PlanNode['name'], b: PlanNode['name']): boolean {
  return a.localName === b.localName && clarkName(a) === clarkName(b);
}
