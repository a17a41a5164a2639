/** The documents of the corpus with what their models are made from, for round trips. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { chooseRoots } from '../../../src/engine/map/chosen-roots.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { compareXml, type XmlDifference } from '../documents/canonical-xml.ts';
import { corpusFiles, corpusXsdSet, readCorpus } from '../corpus.ts';
import { isHere } from '../needs.ts';
import { roundTrip } from './in-memory.ts';
import { inferred } from '../models/shredding.ts';

/** Documents that share an XSD set; or none, and their model is inferred from them. */
export interface CorpusGroup {
  readonly corpus: string;
  readonly xsd: string | null;
  readonly documents: readonly string[];
}

export function corpusGroups(): CorpusGroup[] {
  if (!isHere('corpus')) return [];
  const lines = new TextDecoder()
    .decode(readCorpus('MANIFEST.tsv'))
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([corpus]) => corpus !== 'corpus');
  const groups = [...Map.groupBy(lines, ([corpus, xsd]) => `${corpus}\t${xsd}`).values()].map(
    (group): CorpusGroup => ({
      corpus: group[0]![0]!,
      xsd: group[0]![1]!,
      documents: group.map(([, , document]) => document!),
    }),
  );
  const cldr = corpusFiles('cldr', '.xml').map((name) => `cldr/${name}`);
  return [
    ...groups,
    ...cldr.map((document): CorpusGroup => ({ corpus: 'cldr', xsd: null, documents: [document] })),
  ];
}

export interface GroupSource {
  readonly source: SourceModel;
  readonly inferred: boolean;
}

export function groupSource(group: CorpusGroup): GroupSource {
  if (group.xsd === null)
    return { source: inferred(group.documents.map((name) => readCorpus(name))), inferred: true };
  const { files, entries } = corpusXsdSet(group.xsd);
  return { source: compileXsdSet(files, { missing: 'wildcard', entries }).model, inferred: false };
}

/** The XSD's own roots, and those that documents start with. */
export function groupModel(
  source: SourceModel,
  mapLevel: MapLevel,
  documents: readonly Uint8Array[],
): RelationalModel {
  const standard = chooseRoots(source, undefined).map((root) => source.elements[root]!.name);
  const roots = [...standard, ...documents.map((document) => parseXmlTree(document, {}).name)];
  return buildRelationalModel(source, { mapLevel, roots });
}

/** null: what was written back equals the document. */
export async function documentDifference(
  { source, inferred }: GroupSource,
  model: RelationalModel,
  document: Uint8Array,
): Promise<XmlDifference | null> {
  const [written] = await roundTrip(model, [document]);
  return compareXml(document, written!, { source, asText: inferred, limit: 1 })[0] ?? null;
}
