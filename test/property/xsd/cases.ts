/** Random XSD sets, each with random documents that are valid against it. */
import fc from 'fast-check';
import { Choices, decisions } from '../choices/random.ts';
import { makeDocument } from '../documents/generator.ts';
import type { ElementNode } from '../documents/terms.ts';
import { writeDocument } from '../documents/writer.ts';
import { makeSchema } from '../schemas/generator.ts';
import type { SchemaTerm } from '../schemas/terms.ts';
import { writeXsd } from '../schemas/writer.ts';

export interface XsdCase {
  readonly schema: SchemaTerm;
  /** text by name; the first is the one to start from */
  readonly files: Readonly<Record<string, string>>;
  readonly trees: readonly ElementNode[];
  readonly documents: readonly string[];
  /** what is left of the numbers, for decisions of a property's own */
  readonly choices: Choices;
  /** values may be valid and yet beyond the columns made for them */
  readonly extreme: boolean;
  /** shows the texts where a property fails */
  [fc.toStringMethod](): string;
}

export interface CaseOptions {
  /** values beyond the columns made for their types (in a fifth of the cases) */
  readonly extreme: boolean;
  /** little known forms of values, which another validator may refuse (yes) */
  readonly unusual?: boolean;
  /** changes a document before it is written */
  readonly change?: (tree: ElementNode, schema: SchemaTerm, choices: Choices) => void;
}

export type CaseNumbers = readonly [
  forSchema: readonly number[],
  forDocuments: readonly number[],
  forText: readonly number[],
];

const caseNumbers = fc.tuple(decisions(1200), decisions(800), decisions(800));

export function xsdCases(options: CaseOptions): fc.Arbitrary<XsdCase> {
  return caseNumbers.map((numbers) => makeXsdCase(numbers, options));
}

function makeXsdCase([forSchema, forDocuments, forText]: CaseNumbers, options: CaseOptions): XsdCase {
  const schema = makeSchema(new Choices(forSchema));
  const textChoices = new Choices(forText);
  const files = writeXsd(schema, textChoices);
  const documentChoices = new Choices(forDocuments);
  const extreme = options.extreme && documentChoices.chance(20);
  const making = { extreme, unusual: options.unusual ?? true, size: 30, anyRoot: true };
  const trees = documentChoices.several(1, 3, () => makeDocument(schema, documentChoices, making));
  for (const tree of trees) options.change?.(tree, schema, documentChoices);
  const varied = textChoices.chance(70);
  const documents = trees.map((tree) => writeDocument(tree, textChoices, { varied }));
  const texts = [
    ...Object.entries(files),
    ...documents.map((text, index) => [`document-${index + 1}.xml`, text] as const),
  ];
  return {
    schema,
    files,
    trees,
    documents,
    choices: textChoices,
    extreme,
    [fc.toStringMethod]: () => texts.map(([name, text]) => `\n--- ${name}\n${text}`).join('\n'),
  };
}
