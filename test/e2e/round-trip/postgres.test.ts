/** Documents of every construct through a real PostgreSQL and back. */
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { loadIntoPostgres, readFromPostgres } from '../../support/round-trip/postgres.ts';
import { groupModel } from '../../support/round-trip/corpus.ts';
import { bytesOf, compiled, inferred } from '../../support/models/shredding.ts';
import { constructs } from '../../unit/engine/unshred/constructs.ts';
import { isHere, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

// every construct goes through files and memory in each run (test/unit/engine/unshred): here every third is enough to begin with
const shown = constructs
  .map((construct, index) => ({ ...construct, index }))
  .filter(({ index }) => isHere('whole run') || index % 3 === 0);

describe.each(shown)('$name', ({ xsd, documents, index }) => {
  const bytes = documents.map(bytesOf);
  const source = compiled(xsd);

  it.each(some([3, 0] as const, 1))(
    'level %i, in two jobs, all documents and each alone',
    async (mapLevel) => {
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
    },
  );

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
});

const list = (names: string): string =>
  `<xs:sequence>${names
    .split(' ')
    .map((name) => `<xs:element name="${name}" type="${name}" minOccurs="0" maxOccurs="unbounded"/>`)
    .join('')}</xs:sequence>`;

it('a table that a later job brings is referred to by one that has taken rows of a circle', async () => {
  const source = compiled(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="root"><xs:complexType>${list('call stack')}</xs:complexType></xs:element>
    <xs:complexType name="call">${list('argument')}<xs:attribute name="n"/></xs:complexType>
    <xs:complexType name="argument">${list('call')}<xs:attribute name="n"/></xs:complexType>
    <xs:complexType name="stack">${list('argument call')}<xs:attribute name="n"/></xs:complexType></xs:schema>`,
  );
  const circle = '<call n="1"><argument n="2"><call n="3"/></argument></call>';
  const documents = [
    `<root>${circle}</root>`,
    `<root>${circle}<stack n="4"><argument/><call/></stack></root>`,
  ].map(bytesOf);
  const place = { url: database.url, sqlSchema: 'later_table' };
  const model = groupModel(source, 3, documents);
  for (const [at, document] of documents.entries())
    await loadIntoPostgres(place, model, [document], { id: at + 1, name: `job-${at + 1}` });
  const written = await readFromPostgres(place, model);
  expect(documents.flatMap((document, at) => compareXml(document, written[at]!, { source }))).toEqual([]);
});
