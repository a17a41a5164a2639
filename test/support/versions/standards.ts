/** Versions of standards with documents of each: those that the corpus has, and next ones made of its sets. */
import { basename } from 'node:path';
import { clarkName, type QName } from '../../../src/engine/model/source-model.ts';
import { InputError } from '../../../src/engine/diagnostics.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';
import { corpusXsdSet, readCorpus } from '../corpus.ts';
import { corpusGroups, type CorpusGroup } from '../round-trip/corpus.ts';
import { nextVersion, type VersionOptions, type XsdFile } from './next-version.ts';

export interface StandardVersion {
  readonly files: readonly XsdFile[];
  /** name of the file that documents refer to */
  readonly entry: string;
  /** what its documents start with */
  readonly root: QName;
  readonly documents: readonly XsdFile[];
}

export interface StandardSeries {
  readonly name: string;
  /** the oldest first */
  versions(): StandardVersion[];
}

/** documents of a version, those that are so large at most, or one: whole sets are for `npm run round-trip` */
const maxDocuments = 8;
const maxBytes = 300_000;

/** Bank statements, reports and notifications of ISO 20022. */
const series = ['camt.053', 'camt.052', 'camt.054'];

const derived: readonly (VersionOptions & { readonly corpus: string; readonly xsd?: string })[] = [
  { corpus: 'fpml5-10-confirmation', seed: 1, namespace: ['fpml.org/FpML-5/', 'fpml.org/FpML-6/'] },
  { corpus: 'eforms', xsd: 'UBL-ContractNotice', seed: 1, namespace: ['Components-2"', 'Components-3"'] },
  { corpus: 'cdisc-odm', seed: 2, namespace: ['/ns/odm/v2.0', '/ns/odm/v2.1'] },
  { corpus: 'siri', seed: 1 },
  { corpus: 'musicxml', seed: 1 },
  { corpus: 'sumo', xsd: 'routes_file', seed: 1 },
  { corpus: 'entsoe', seed: 1 },
  { corpus: 'junit', seed: 1 },
  { corpus: 'scap-ocil', seed: 1, namespace: ['/ocil/2.0', '/ocil/3.0'] },
  { corpus: 'netex', seed: 1 },
];

/** None where there is no corpus. */
export function standardSeries(): StandardSeries[] {
  const groups = corpusGroups().filter(({ xsd }) => xsd !== null);
  const real = series.flatMap((name) => {
    const versions = groups.filter(({ xsd }) => basename(xsd!).startsWith(name));
    return versions.length === 0
      ? []
      : [{ name: `${name}, ${versions.length} versions`, versions: () => versions.map(versionOf) }];
  });
  const made = derived.flatMap((options) => {
    const group = groups.find(
      ({ corpus, xsd }) => corpus === options.corpus && xsd!.includes(options.xsd ?? ''),
    );
    return group === undefined
      ? []
      : [
          {
            name: `${options.corpus} and a next version`,
            versions: () => withNext(versionOf(group), options),
          },
        ];
  });
  return real.length + made.length > 0 ? [...real, ...made] : largestSets(groups);
}

/** Of a corpus without any of these (CORPUS_DIR): the documents of each set that most of it have, and a next version. */
function largestSets(groups: readonly CorpusGroup[]): StandardSeries[] {
  return [...Map.groupBy(groups, ({ corpus }) => corpus)].map(([corpus, ofSet]) => {
    const [group] = ofSet.toSorted((a, b) => b.documents.length - a.documents.length);
    return {
      name: `${corpus} and a next version`,
      versions: () => withNext(versionOf(group!), { seed: 1 }),
    };
  });
}

function versionOf({ xsd, documents }: CorpusGroup): StandardVersion {
  const { files, entries } = corpusXsdSet(xsd!);
  const [entry] = entries;
  // each of these is a set of its own
  const own = xsd!.startsWith('iso20022/') ? files.filter(({ name }) => name === entry) : files;
  const read = documents
    // tools read documents of any name, and of folders those that end so
    .map((name) => ({ name: basename(name).replace(/(?<!\.xml)$/, '.xml'), bytes: readCorpus(name) }))
    .filter(({ bytes }) => rootOf(bytes) !== null)
    .toSorted((a, b) => Number(a.bytes.length > maxBytes) - Number(b.bytes.length > maxBytes));
  const byRoot = Map.groupBy(read, ({ bytes }) => clarkName(rootOf(bytes)!));
  // of the documents, those that start as most do
  const [alike] = [...byRoot.values()].toSorted((a, b) => b.length - a.length);
  const chosen = alike!.filter(({ bytes }, at) => at === 0 || bytes.length <= maxBytes);
  return {
    files: own,
    entry: entry!,
    root: rootOf(chosen[0]!.bytes)!,
    documents: chosen.slice(0, maxDocuments),
  };
}

/** Null: the document is not well-formed. */
function rootOf(document: Uint8Array): QName | null {
  try {
    return parseXmlTree(document, {}).name;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

function withNext(version: StandardVersion, options: VersionOptions): StandardVersion[] {
  const next = nextVersion(version.files, options);
  const documents = version.documents.map(({ name, bytes }) => ({
    name: `next-${name}`,
    bytes: next.document(bytes),
  }));
  const root = rootOf(documents[0]!.bytes)!;
  return [version, { ...version, files: next.files, root, documents }];
}
