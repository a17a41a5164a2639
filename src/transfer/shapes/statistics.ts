/** Whether a value is the statistics of documents, whose indexes lead somewhere. */
import type {
  AttributeStatistics,
  ChildStatistics,
  DocumentStatistics,
  ElementStatistics,
  ValueStatistics,
} from '../../engine/infer/statistics.ts';
import { array, integer, nullable, object, oneOf, record, shapeFault, text } from './json-shape.ts';
import type { Shape } from './json-shape.ts';

const count = integer(0);

const values = object<ValueStatistics>(
  {
    count,
    empty: count,
    classes: count,
    minLength: count,
    maxLength: count,
    wholeDigits: count,
    minFraction: count,
    maxFraction: count,
    min: nullable(text()),
    max: nullable(text()),
    sketch: array(integer()),
  },
  { withOffset: count },
);

const element = object<ElementStatistics>(
  {
    namespaceUri: text(),
    localName: text(/./),
    count,
    documents: count,
    withChildren: count,
    withText: count,
    mixed: count,
    nil: count,
    textRuns: count,
    text: values,
    attributes: array(
      object<AttributeStatistics>({
        namespaceUri: text(),
        localName: text(/./),
        count,
        documents: count,
        value: values,
      }),
    ),
    children: array(
      object<ChildStatistics>({
        element: count,
        minOccurs: count,
        maxOccurs: count,
        precededBy: array(integer()),
      }),
    ),
  },
  { apart: oneOf(true), withOthers: count },
);

const byName = {
  format: oneOf(1),
  documents: count,
  bytes: count,
  namespaces: record(text()),
  elements: array(element),
  roots: array(count),
};

const shape = object<DocumentStatistics>(byName, {
  byType: (value, at) => {
    object<DocumentStatistics>(byName, {})(value, at);
    checkIndexes(value as DocumentStatistics, at);
  },
});

export const checkStatistics: Shape = (value, at) => {
  shape(value, at);
  checkIndexes(value as DocumentStatistics, at);
};

function checkIndexes({ elements, roots }: DocumentStatistics, at: string): void {
  const indexes = [...roots, ...elements.flatMap(({ children }) => children.map((child) => child.element))];
  for (const index of indexes)
    if (index >= elements.length) throw shapeFault(at, 'refers to what it does not hold');
}
