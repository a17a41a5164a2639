/** Thirty questions to documents of ten standards: our tables answer each as the documents do, in queries that an analyst would write. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../../scripts/model-peers/questions.ts';
import { gmlas, xml2db } from '../../../scripts/model-peers/tools.ts';
import { readCorpus } from '../../support/corpus.ts';
import { needs, some } from '../../support/needs.ts';
import { answerOf, compareAnswers } from '../../support/questions/answers.ts';
import { loadStandard } from '../../support/questions/load.ts';
import { joinsOf, queriesOf } from '../../support/questions/queries.ts';
import { standards } from '../../support/questions/standards/index.ts';
import { remit } from '../../support/questions/standards/remit.ts';
import { truthOf } from '../../support/questions/truth.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

/** of each question; a model that needs more has become worse to read */
const joins: Readonly<Record<string, readonly number[]>> = {
  camt053: [2, 6, 3],
  eforms: [4, 3, 3],
  fpml: [4, 5, 1],
  netex: [2, 3, 1],
  siri: [1, 2, 2],
  odm: [7, 2, 2],
  musicxml: [6, 3, 5],
  oval: [3, 4, 3],
  sumo: [1, 2, 1],
  remit: [2, 1, 4],
};

describe('questions of analysts', needs('corpus'), () => {
  it.each(some(standards, 5))('$title', async (standard) => {
    const documents = standard.documents.map((name) => readCorpus(name));
    await loadStandard(database.url, standard, documents);
    const queries = queriesOf(standard)!;
    expect(queries).toHaveLength(standard.questions.length);
    for (const [at, question] of standard.questions.entries()) {
      const truth = truthOf(question, standard, documents);
      expect(truth.length, question.text).toBeGreaterThan(0);
      const answer = await answerOf(database.sql, standard.name, queries[at]!);
      expect(compareAnswers(truth, answer), question.text).toEqual({ missing: [], surplus: [] });
    }
    expect(queries.map(joinsOf)).toEqual(joins[standard.name]);
  });
});

describe('tables of other tools', needs(['corpus', 'xml2db', 'ogr2ogr']), () => {
  it('are asked the same questions', async () => {
    const directory = await trial.folder('model-peers-');
    const place = { url: database.url, sql: database.sql, directory };
    for (const tool of [xml2db, gmlas]) {
      expect(await tool.load(place, remit, 600)).toEqual([]);
      const answers = await ask(tool, place, remit);
      // what a tool cannot say in one version, the next may
      expect(answers.slice(0, 2).map((one) => one?.isRight)).toEqual([true, true]);
      expect(answers).toHaveLength(remit.questions.length);
    }
  });
});

describe('sets of one’s own', needs('postgresql'), () => {
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="shop"><xs:complexType><xs:sequence>
    <xs:element name="town" type="xs:string"/>
    <xs:element name="sale" maxOccurs="unbounded"><xs:complexType><xs:attribute name="amount" type="xs:decimal"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const set = {
    title: 'Shops',
    xsd: 'shops/shop.xsd',
    documents: ['shops/a.xml', 'shops/b.xml'],
    questions: [
      { text: 'What was sold where?', rows: '//sale', columns: { town: '../town', amount: '@amount' } },
      { text: 'How much did each shop sell?', rows: '/shop', columns: { total: 'sum(sale/@amount)' } },
    ],
  };

  async function compared(of: object, sql: string): Promise<{ code: number; said: string }> {
    const folder = await trial.folder('questions-');
    const corpus = await trial.folder('corpus-');
    await mkdir(join(corpus, 'shops'));
    await mkdir(join(folder, 'ours'));
    await writeFile(join(corpus, 'shops/shop.xsd'), xsd);
    for (const [name, amounts] of Object.entries({ a: [1, 2.5], b: [4] }))
      await writeFile(
        join(corpus, `shops/${name}.xml`),
        `<shop><town>${name}</town>${amounts.map((amount) => `<sale amount="${amount}"/>`).join('')}</shop>`,
      );
    await writeFile(join(folder, 'shops.json'), JSON.stringify(of));
    await writeFile(join(folder, 'ours/shops.sql'), sql);
    const script = resolve('scripts/model-peers/index.ts');
    const env = { ...process.env, CORPUS_DIR: corpus };
    return await new Promise((settle) => {
      const words = [script, '--questions', folder, '--tools', 'ours', '--columns'];
      execFile(process.execPath, words, { env }, (error, stdout, stderr) =>
        settle({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
      );
    });
  }

  const joined = 'select s.town, t.amount from sale t join shop s using (shop_key)';

  it('are loaded, shown, and asked the questions of a folder', async () => {
    const { code, said } = await compared(set, `${joined}; select sum(amount) from sale group by shop_key;`);
    expect(said).toContain('ours: 2 of 2 answers are right; 1 joins in 2 queries');
    expect(said).toMatch(/^ours: sale \(3\)$[^]*^ {2}amount numeric \(3\)$/m);
    expect(code).toBe(0);
  });

  it('tell which answer is not that of the documents', async () => {
    const { code, said } = await compared(set, `${joined} where t.amount > 1; select sum(amount) from sale;`);
    expect(said).toContain('ours, shops 1: lacks 1 rows, as ["a","1"]');
    expect(said).toContain('ours, shops 2: lacks 2 rows');
    expect(code).toBe(1);
  });

  it('are refused with the file that is at fault, and what is wrong in it', async () => {
    const absent = await compared({ ...set, documents: ['shops/c.xml'] }, joined);
    expect(absent.said).toMatch(/shops\.json: there is no shops\/c\.xml in .*corpus-/);
    const wordless = await compared({ ...set, questions: [{ rows: '//sale', columns: {} }] }, joined);
    expect(wordless.said).toMatch(/shops\.json: [^]*questions\[0\]\.text/);
    expect([absent.code, wordless.code]).toEqual([1, 1]);
  });
});
