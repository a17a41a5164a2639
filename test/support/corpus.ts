/** Real XSD sets and documents that lie beside the project; tests that need them skip where they are absent. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { corpusDirectory } from './needs.ts';

/** Files below a folder of the corpus whose names end so, as paths relative to it, sorted. */
export function corpusFiles(folder: string, ending: string): string[] {
  const directory = join(corpusDirectory, folder);
  return readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(ending) && statSync(join(directory, name)).isFile())
    .toSorted();
}

export function readCorpus(...path: string[]): Uint8Array {
  return new Uint8Array(readFileSync(join(corpusDirectory, ...path)));
}

/** The XSD set around an entry of the manifest: every XSD file of its corpus, and the entry's name among them. */
export function corpusXsdSet(xsd: string): {
  readonly files: { name: string; bytes: Uint8Array }[];
  readonly entries: string[];
} {
  const corpus = xsd.slice(0, xsd.indexOf('/'));
  const files = corpusFiles(corpus, '.xsd').map((name) => ({ name, bytes: readCorpus(corpus, name) }));
  return { files, entries: [xsd.slice(corpus.length + 1)] };
}
