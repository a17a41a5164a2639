/** The registry of formats that describe tables for other tools, each with its writer. */
import { mapInSlices } from '../in-slices.ts';
import { avroSchemas } from './avro.ts';
import { dbmlDocument } from './dbml.ts';
import { dbtProject, type ProjectFile } from './dbt.ts';
import type { DescribedModel } from './described.ts';
import { dataPackage } from './frictionless.ts';
import { jsonSchema } from './json-schema.ts';
import { mermaidDiagram } from './mermaid.ts';
import { odcsContract } from './odcs.ts';

export const exportFormats = [
  'dbt',
  'odcs',
  'mermaid',
  'dbml',
  'frictionless',
  'jsonschema',
  'avro',
] as const;
export type ExportFormat = (typeof exportFormats)[number];

interface Specification {
  /** follows the name of the schema in the name of the file */
  readonly ending: string;
  /** the first one is returned unless the client asks for another */
  readonly mediaTypes: readonly [string, ...string[]];
}

/** A text is made in pieces; an archive of its files. */
type Makes =
  | { readonly kind: 'text'; make(model: DescribedModel): Promise<readonly string[]> }
  | { readonly kind: 'files'; make(model: DescribedModel): Promise<readonly ProjectFile[]> };

export const formatSpecifications: Readonly<Record<ExportFormat, Specification & Makes>> = {
  dbt: { ending: '-dbt.zip', mediaTypes: ['application/zip'], kind: 'files', make: dbtProject },
  odcs: { ending: '.odcs.yaml', mediaTypes: ['application/yaml'], kind: 'text', make: odcsContract },
  mermaid: { ending: '.mmd', mediaTypes: ['text/plain; charset=utf-8'], kind: 'text', make: mermaidDiagram },
  dbml: { ending: '.dbml', mediaTypes: ['text/plain; charset=utf-8'], kind: 'text', make: dbmlDocument },
  frictionless: {
    ending: '.datapackage.json',
    mediaTypes: ['application/json'],
    kind: 'text',
    make: packageOfTables,
  },
  jsonschema: {
    ending: '.schema.json',
    mediaTypes: ['text/plain; charset=utf-8', 'application/json', 'application/schema+json'],
    kind: 'text',
    make: jsonSchema,
  },
  avro: {
    ending: '.avsc',
    mediaTypes: ['text/plain; charset=utf-8', 'application/json', 'application/vnd.apache.avro+json'],
    kind: 'text',
    make: avroSchemas,
  },
};

/** Describes a folder of CSV files, with each table in the file that a first load writes. */
function packageOfTables(model: DescribedModel): Promise<readonly string[]> {
  const { name, version, tables } = model;
  const pieces = dataPackage(
    { name, title: `Tables of ${name}, version ${version}`, format: 'csv' },
    tables.map((table) => ({
      name: table.name,
      describe: () => table,
      files: [{ path: `${encodedName(table.name)}.csv` }],
    })),
  );
  return mapInSlices(pieces, (piece) => piece);
}

/** Percent-encodes all characters except letters, digits, `_` and `-`. */
function encodedName(table: string): string {
  return table
    .toWellFormed()
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, (character) =>
      [...new TextEncoder().encode(character)]
        .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
        .join(''),
    );
}
