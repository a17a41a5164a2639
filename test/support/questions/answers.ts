/** Answers of queries beside the truth: as sets of rows, each value by its meaning and not by how it is written. */
import type { Sql } from '../../../src/postgres/connect.ts';
import type { AnswerRow } from './truth.ts';

/** What a query answers, each value as JSON's text; times with a zone in UTC. */
export async function answerOf(sql: Sql, sqlSchema: string, statement: string): Promise<AnswerRow[]> {
  return await sql.begin(async (tx) => {
    await tx.unsafe(`set local search_path to "${sqlSchema}"; set local time zone 'UTC'`);
    const rows = await tx.unsafe(
      `select to_json(array(select value from json_each_text(row_to_json(answer))))::text as row from (${statement}) as answer`,
    );
    return rows.map((row) => JSON.parse(String(row['row'])) as AnswerRow);
  });
}

export interface Comparison {
  /** in the documents, and not in the answer */
  readonly missing: readonly string[];
  /** in the answer, and not in the documents */
  readonly surplus: readonly string[];
}

export function compareAnswers(truth: readonly AnswerRow[], answer: readonly AnswerRow[]): Comparison {
  const left = counted(truth);
  const surplus: string[] = [];
  for (const row of answer.map(meaning)) {
    const count = left.get(row) ?? 0;
    if (count === 0) surplus.push(row);
    else left.set(row, count - 1);
  }
  return { missing: [...left].flatMap(([row, count]) => Array<string>(count).fill(row)), surplus };
}

function counted(rows: readonly AnswerRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows.map(meaning)) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/;
const instant = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/;
const dayOrTime = /^(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:?\d\d)?$/;

function meaning(row: AnswerRow): string {
  return JSON.stringify(row.map((value) => (value === null ? null : meaningOf(value))));
}

/** Sums of XPath are doubles: twelve digits are alike. Days and times of the day keep their local value, as in columns. */
function meaningOf(value: string): string {
  const text = value.replace(/\s+/g, ' ').trim();
  if (number.test(text)) return String(Number(Number(text).toPrecision(12)));
  if (instant.test(text)) return new Date(text).toISOString();
  const [, local] = dayOrTime.exec(text) ?? [];
  return local?.replace(/\.0+$/, '') ?? text;
}
