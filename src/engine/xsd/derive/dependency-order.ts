/** The deepest nesting and the longest chain that are accepted, because later steps follow them by recursion. Real sets stay under 50. */
export const maxDependencyDepth = 1000;

export interface DependencyFaults<T> {
  /** once per edge that closes a cycle; the edge is ignored */
  onCycle(node: T, dependency: T): void;
  /** called once, for the first node whose longest chain of dependencies is over `maxDependencyDepth` */
  onTooDeep?(node: T): void;
}

/**
 * Orders nodes so that each comes after its dependencies, in time linear in nodes and edges and without recursion (chains may have tens
 * of thousands of nodes).
 */
export function orderByDependency<T>(
  nodes: Iterable<T>,
  dependenciesOf: (node: T) => readonly T[],
  faults: DependencyFaults<T>,
): T[] {
  const order: T[] = [];
  const open = new Set<T>();
  /** length of the longest chain of dependencies, of finished nodes */
  const depths = new Map<T, number>();
  const stack: { node: T; dependencies: readonly T[]; next: number; depth: number }[] = [];
  let tooDeep = false;
  const enter = (node: T) => {
    open.add(node);
    stack.push({ node, dependencies: dependenciesOf(node), next: 0, depth: 0 });
  };
  for (const start of nodes) {
    if (depths.has(start)) continue;
    enter(start);
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const dependency = top.dependencies[top.next];
      if (dependency === undefined) {
        stack.pop();
        open.delete(top.node);
        depths.set(top.node, top.depth);
        order.push(top.node);
        if (top.depth > maxDependencyDepth && !tooDeep) {
          tooDeep = true;
          faults.onTooDeep?.(top.node);
        }
        continue;
      }
      const depth = depths.get(dependency);
      if (depth !== undefined) top.depth = Math.max(top.depth, depth + 1);
      else if (open.has(dependency)) faults.onCycle(top.node, dependency);
      else {
        enter(dependency);
        continue;
      }
      top.next++;
    }
  }
  return order;
}
