/** Modules that need each other: none, but for the grammar of XSD, whose productions do. Types and modules started as threads count. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readImports, readText } from './project-files.ts';

/** XSD Part 1: a complex type holds model groups, these hold elements, and an element may hold a complex type. */
const grammar = ['complex-type.ts', 'element-declaration.ts', 'model-group.ts'].map(
  (name) => `src/engine/xsd/components/${name}`,
);

const modules = listFiles('src').filter((path) => /\.(?:ts|mjs)$/.test(path));

/** What a module imports, and what it starts: `new URL('…', import.meta.url)`. */
function neededBy(path: string): string[] {
  const text = readText(path);
  const started = [...text.matchAll(/new URL\(\s*['"](\.{1,2}\/[^'"]+\.(?:ts|mjs))['"]/g)].map(
    ([, specifier]) => specifier!,
  );
  return [...readImports(text).map(({ specifier }) => specifier), ...started]
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier));
}

/** Strongly connected components of more than one node (Tarjan, 1972), each sorted. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    low.set(node, order.get(node)!);
    open.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) low.set(node, Math.min(low.get(node)!, low.get(next)!));
    }
    if (low.get(node) !== order.get(node)) return;
    const component = open.splice(open.indexOf(node));
    if (component.length > 1) found.push(component.toSorted());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return found;
}

describe('modules that need each other', () => {
  it('are those of the grammar of XSD alone', () => {
    expect(cyclesOf(new Map(modules.map((path) => [path, neededBy(path)])))).toEqual([grammar]);
  });

  it('are found, whatever the way round', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', ['e']],
      ['e', ['d', 'gone']],
      ['f', ['a']],
    ]);
    expect(cyclesOf(graph)).toEqual([
      ['d', 'e'],
      ['a', 'b', 'c'],
    ]);
  });
});
