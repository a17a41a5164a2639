/** Real XSD sets and documents that lie beside the project; tests that need them skip where they are absent. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const corpusDirectory = resolve(process.env['CORPUS_DIR'] ?? join(import.meta.dirname, '../../../shared/corpus'));

export const hasCorpus = existsSync(join(corpusDirectory, 'MANIFEST.tsv'));

if (!hasCorpus) console.warn(`corpus tests are skipped: there is no ${corpusDirectory}; set CORPUS_DIR to its place`);

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

/** The XSD set around an entry: every XSD file below its folder, named relative to it. */
export function corpusXsdSet(folder: string): { name: string; bytes: Uint8Array }[] {
  return corpusFiles(folder, '.xsd').map((name) => ({ name: relative('.', name), bytes: readCorpus(folder, name) }));
}
