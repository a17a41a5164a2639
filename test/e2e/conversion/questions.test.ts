/** Thirty questions to documents of ten standards: our tables answer each as the documents do, in queries that an analyst would write. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../../scripts/model-peers/questions.ts';
import { gmlas, xml2db } from '../../../scripts/model-peers/tools.ts';
import { readCorpus } from '../../support/corpus.ts';
import { needs } from '../../support/needs.ts';
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
  it.each(standards)('$title', async (standard) => {
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
