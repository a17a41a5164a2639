/** Random documents without an XSD. */
import fc from 'fast-check';
import { Choices, decisions } from './random.ts';
import type { ElementNode } from '../documents/terms.ts';
import { writeDocument } from '../documents/writer.ts';
import { makeTrees } from './tree-generator.ts';

export interface TreeCase {
  readonly trees: readonly ElementNode[];
  readonly documents: readonly string[];
  readonly choices: Choices;
  [fc.toStringMethod](): string;
}

export type TreeNumbers = readonly [forTrees: readonly number[], forText: readonly number[]];

const treeNumbers = fc.tuple(decisions(900), decisions(600));

export const treeCases: fc.Arbitrary<TreeCase> = treeNumbers.map((numbers) => makeTreeCase(numbers));

function makeTreeCase([forTrees, forText]: TreeNumbers): TreeCase {
  const trees = makeTrees(new Choices(forTrees));
  const choices = new Choices(forText);
  const varied = choices.chance(60);
  const documents = trees.map((tree) => writeDocument(tree, choices, { varied }));
  return {
    trees,
    documents,
    choices,
    [fc.toStringMethod]: () => documents.map((text) => `\n--- document\n${text}`).join('\n'),
  };
}
