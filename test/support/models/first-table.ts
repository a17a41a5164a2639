/** The plan of a model that is written by hand, as far as tests ask: which table holds the rows of root elements. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';

export function firstTableIsRoot(
  namespaceUri: string,
  localName: string,
): Pick<RelationalModel, 'nodes' | 'roots'> {
  const name = { namespaceUri, localName };
  return {
    roots: [{ name, node: 0, parentKeyColumn: -1, minOccurs: 1, maxOccurs: 1 }],
    nodes: [
      {
        name,
        table: 0,
        opensRow: true,
        content: 'elements',
        textColumn: -1,
        presenceColumn: -1,
        nilColumn: -1,
        elementNameColumn: -1,
        typeNameColumn: -1,
        foldedPositionColumn: -1,
        attributes: [],
        edges: [],
        textTable: -1,
        wildcardTable: -1,
        anyAttributeColumn: -1,
        typeEdges: [],
        sourceElement: 0,
        sourceType: 0,
      },
    ],
  };
}
