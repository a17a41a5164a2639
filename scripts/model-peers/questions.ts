/** What the queries to a tool's tables answer, and how many joins they take. */
import { readCorpus } from '../../test/support/corpus.ts';
import { answerOf, compareAnswers } from '../../test/support/questions/answers.ts';
import { joinsOf, queriesOf } from '../../test/support/questions/queries.ts';
import type { Standard } from '../../test/support/questions/kinds.ts';
import { truthOf } from '../../test/support/questions/truth.ts';
import type { Place, Tool } from './tools.ts';

export interface Answered {
  readonly joins: number;
  readonly isRight: boolean;
  /** a row that is not as it should be, or what the database said; null: right */
  readonly fault: string | null;
}

/** `folder`: of the queries. null: there is none. */
export async function ask(
  tool: Tool,
  { sql }: Place,
  standard: Standard,
  folder = tool.queries,
): Promise<readonly (Answered | null)[]> {
  const documents = standard.documents.map((name) => readCorpus(name));
  const queries = queriesOf(standard, folder);
  const answered: (Answered | null)[] = [];
  for (const [at, question] of standard.questions.entries()) {
    const query = queries?.[at];
    if (query === undefined) answered.push(null);
    else {
      const fault = await faultOf(async () => {
        const answer = await answerOf(sql, tool.sqlSchema(standard), query);
        const truth = truthOf(question, standard, documents);
        if (truth.length === 0) return 'there is no row for it in the documents';
        const { missing, surplus } = compareAnswers(truth, answer);
        if (missing.length > 0) return `lacks ${missing.length} rows, as ${missing[0]}`;
        return surplus.length > 0 ? `has ${surplus.length} rows too many, as ${surplus[0]}` : null;
      });
      answered.push({ joins: joinsOf(query), isRight: fault === null, fault });
    }
  }
  return answered;
}

async function faultOf(compare: () => Promise<string | null>): Promise<string | null> {
  try {
    return await compare();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
