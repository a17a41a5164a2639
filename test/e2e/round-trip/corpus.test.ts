/** A sample of real documents to rows and back, in memory, through PostgreSQL and through a SQLite file; `npm run round-trip` does all of them. */
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../src/targets/sql/sqlite/source.ts';
import { readCorpus } from '../../support/corpus.ts';
import { corpusDirectory, needs } from '../../support/needs.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { loadInto, loadIntoPostgres, readFrom, readFromPostgres } from '../../support/round-trip/postgres.ts';
import { corpusGroups, groupModel, groupSource, type CorpusGroup } from '../../support/round-trip/corpus.ts';
import { roundTrip } from '../../support/round-trip/in-memory.ts';
import { useTrial } from '../../support/service/trial.ts';

/** documents of a group in the sample; large ones, and sets that take long to compile, have theirs in the script alone */
const perGroup = 5;
const maxBytes = 250_000;
const slowSets = ['netex', 'scap-oval', 'siri'];

const sample: CorpusGroup[] = corpusGroups()
  .filter(({ corpus }) => !slowSets.includes(corpus))
  .map((group) => ({
    ...group,
    documents: group.documents
      .filter((name) => statSync(join(corpusDirectory, name)).size <= maxBytes)
      .slice(0, perGroup),
  }))
  .filter(({ documents }) => documents.length > 0);
const cases = sample.map((group, index) => ({ ...group, index, of: group.xsd ?? 'inferred' }));

describe('documents of the corpus', needs(['corpus', 'whole run']), () => {
  const trial = useTrial();
  let database: TestDatabase;
  let folder = '';
  let equal = 0;

  beforeAll(async () => {
    database = await trial.emptyDatabase();
    folder = await trial.folder('round-trip-');
  });

  it.each(cases)('$corpus $of: $documents', async (group) => {
    const { source, inferred } = groupSource(group);
    const documents = group.documents.map((name) => readCorpus(name));
    for (const mapLevel of [0, 1, 2] as const) {
      const written = await roundTrip(groupModel(source, mapLevel, documents), documents);
      const differences = documents.flatMap((document, at) =>
        compareXml(document, written[at]!, { source, asText: inferred }),
      );
      expect([mapLevel, differences]).toEqual([mapLevel, []]);
    }
    const model = groupModel(source, 3, documents);
    const place = { url: database.url, sqlSchema: `corpus_${group.index}` };
    await loadIntoPostgres(place, model, documents);
    const written = await readFromPostgres(place, model);
    const file = join(folder, `${group.index}.sqlite`);
    await loadInto(createSqliteRowSink({ file }), { model, idJob: 1 }, documents);
    const fromSqlite = await readFrom(createSqliteRowSource({ file }), model);
    for (const [at, document] of documents.entries()) {
      expect(compareXml(document, written[at]!, { source, asText: inferred })).toEqual([]);
      expect(compareXml(document, fromSqlite[at]!, { source, asText: inferred })).toEqual([]);
      equal += 1;
    }
  });

  it('are at least sixty, and all come back the same', () => {
    const documents = sample.reduce((sum, group) => sum + group.documents.length, 0);
    expect(documents).toBeGreaterThanOrEqual(60);
    expect(equal).toBe(documents);
  });
});
