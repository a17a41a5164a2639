/** XSD sets and documents of the end-to-end tests. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ArchiveEntry } from './archives.ts';

/** Three files in two namespaces, one included and one imported from a folder below. */
export const freightXsdFolder = join(import.meta.dirname, '../../fixtures/e2e/freight/xsd');
export const freightDocumentFolder = join(import.meta.dirname, '../../fixtures/e2e/freight/documents');

export function filesBelow(folder: string): ArchiveEntry[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => ({ name: path.slice(folder.length + 1), bytes: new Uint8Array(readFileSync(path)) }));
}

export interface FixtureDocument {
  readonly name: string;
  readonly text: string;
}

export const freightDocuments: readonly FixtureDocument[] = filesBelow(freightDocumentFolder).map(
  ({ name, bytes }) => ({ name, text: new TextDecoder().decode(bytes) }),
);
