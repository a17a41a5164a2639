/** Documents of a standard in PostgreSQL, as our tool loads them into tables that are pruned by them. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { corpusXsdSet } from '../corpus.ts';
import { prunedModel } from '../models/figures.ts';
import { loadIntoPostgres } from '../round-trip/postgres.ts';
import type { Standard } from './kinds.ts';

/** `url`: of the database. The SQL schema is called as the standard is. */
export async function loadStandard(
  url: string,
  standard: Standard,
  documents: readonly Uint8Array[],
): Promise<RelationalModel> {
  const { files, entries } = corpusXsdSet(standard.xsd);
  const { model: source } = compileXsdSet(files, { missing: 'wildcard', entries });
  const model = prunedModel(source, 3, documents);
  await loadIntoPostgres({ url, sqlSchema: standard.name }, model, documents);
  return model;
}
