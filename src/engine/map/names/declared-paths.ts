/** Paths that identify a type whose rows share one table, whatever paths lead to it. */
import type { SourceModel } from '../../model/source-model.ts';
import type { UsePrinter } from './use-paths.ts';

export interface DeclaredPaths {
  /** `/(type Party)`; for a type without a name, the declarations of its elements: `/(type Party)/address`, `/(element note)` */
  ofType(type: number): readonly string[];
}

/** `source`: `declared` after similar types became one, under the same indexes. */
export function createDeclaredPaths(
  declared: SourceModel,
  source: SourceModel,
  uses: UsePrinter,
): DeclaredPaths {
  let declarations: Declarations | null = null;
  const ofElement = (element: number): string => {
    const steps: string[] = [];
    const above = new Set<number>();
    for (let at = element; ;) {
      const { name, global } = declared.elements[at]!;
      if (global) return `/(element ${uses.element(name)})${steps.toReversed().join('')}`;
      steps.push(`/${uses.element(name)}`);
      const owner = declarations!.owners.get(at);
      const ownerName = owner === undefined ? null : declared.types[owner]!.name;
      if (ownerName !== null) return `/(type ${uses.element(ownerName)})${steps.toReversed().join('')}`;
      const declares = owner === undefined ? undefined : declarations!.declarers.get(owner)?.[0];
      if (declares === undefined || above.has(owner!)) return `/(element)${steps.toReversed().join('')}`;
      above.add(owner!);
      at = declares;
    }
  };
  return {
    ofType(type) {
      const { name } = source.types[type]!;
      if (name !== null) return [`/(type ${uses.element(name)})`];
      declarations ??= findDeclarations(declared, source);
      const elements = declarations.elements.get(type) ?? [];
      return [...new Set(elements.map(ofElement))];
    },
  };
}

interface Declarations {
  /** by type of `source`: its elements */
  readonly elements: ReadonlyMap<number, readonly number[]>;
  /** by type of `declared`: the same */
  readonly declarers: ReadonlyMap<number, readonly number[]>;
  /** by element: the first type of `declared` that holds it */
  readonly owners: ReadonlyMap<number, number>;
}

function findDeclarations(declared: SourceModel, source: SourceModel): Declarations {
  const owners = new Map<number, number>();
  for (const [type, { children }] of declared.types.entries())
    for (const { element } of children) if (!owners.has(element)) owners.set(element, type);
  return { elements: byType(source), declarers: byType(declared), owners };
}

function byType({ elements }: SourceModel): Map<number, number[]> {
  return Map.groupBy(elements.keys(), (element) => elements[element]!.type);
}
