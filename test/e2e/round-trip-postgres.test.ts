/** Documents of every construct through a real PostgreSQL and back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../support/canonical-xml.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts';
import { loadIntoPostgres, readFromPostgres } from '../support/postgres-round-trip.ts';
import { groupModel } from '../support/round-trip-corpus.ts';
import { bytesOf, compiled, inferred } from '../support/shredding.ts';
import { constructs } from '../unit/unshred/constructs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

describe.each(constructs.map((construct, index) => ({ ...construct, index })))(
  '$name',
  ({ xsd, documents, index }) => {
    const bytes = documents.map(bytesOf);
    const source = compiled(xsd);

    it.each([0, 3] as const)('level %i, in two jobs, all documents and each alone', async (mapLevel) => {
      const place = { url: database.url, sqlSchema: `construct_${index}_${mapLevel}` };
      const model = groupModel(source, mapLevel, bytes);
      await loadIntoPostgres(place, model, bytes, { id: 1, name: 'first' });
      await loadIntoPostgres(place, model, bytes.toReversed(), { id: 2, name: 'second' });
      const loaded = [...bytes, ...bytes.toReversed()];
      const written = await readFromPostgres(place, model);
      expect(written).toHaveLength(loaded.length);
      expect(loaded.flatMap((document, at) => compareXml(document, written[at]!, { source }))).toEqual([]);
      for (const [at, document] of bytes.toReversed().entries()) {
        const [alone] = await readFromPostgres(place, model, `second-${at + 1}.xml`);
        expect(compareXml(document, alone!, { source })).toEqual([]);
      }
    });

    it('a model inferred from the documents', async () => {
      const place = { url: database.url, sqlSchema: `inferred_${index}` };
      const guessed = inferred(bytes);
      const model = groupModel(guessed, 3, bytes);
      await loadIntoPostgres(place, model, bytes);
      const written = await readFromPostgres(place, model);
      const differences = bytes.flatMap((document, at) =>
        compareXml(document, written[at]!, { source: guessed, asText: true }),
      );
      expect(differences).toEqual([]);
    });
  },
);
