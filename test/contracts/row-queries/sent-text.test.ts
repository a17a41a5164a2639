/** What PostgreSQL sends of a column is, with what is left to be done to it, the text that it would have made of it itself. */
import { expect, test } from 'vitest';
import { asMoment, lexicalText, sentText, type SentText } from '../../../src/targets/sql/postgres/tables.ts';
import { textOf, utf8Of } from '../../../src/engine/unshred/rows/values.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';

const values: readonly (readonly [type: string, ...texts: string[]])[] = [
  ['smallint', '-32768', '7'],
  ['integer', '2147483647', '0'],
  ['bigint', '-9223372036854775808', '12'],
  ['numeric', '12.50', '-0.000000000000000000001', '99999999999999999999999999999999999999999'],
  ['numeric(12,4)', '12.5', '-3'],
  ['text', '', ' a blank ', 'é\n\t\\'],
  ['character varying', 'x '],
  ['character varying(5)', 'abc'],
  ['character(3)', 'a', 'abc'],
  ['date', '0001-01-01', '9999-12-31'],
  ['time without time zone', '24:00:00', '12:30:15.1234'],
  ['timestamp without time zone', '2024-02-29T12:00:00.5', '0001-01-01T00:00:00'],
  ['timestamp with time zone', '2026-01-01T00:30:00+01:00', '1969-12-31T19:00:00.25-05:00'],
  ['boolean', 'true', 'false'],
  ['real', '3.4028235e+38', '-Infinity', 'NaN'],
  ['double precision', '0.1', 'Infinity'],
  ['integer[]', '{1,2}', '{}'],
  ['text[]', '{a,"b c"}'],
  ['timestamp with time zone[]', '{2026-01-01T00:00:00Z,2026-01-01T00:00:00+02:00}'],
];

function settled(text: string | null, moment: SentText['moment']): string | null {
  if (text === null || moment === null) return text;
  const bytes = utf8Of(text);
  return textOf(bytes, 0, asMoment(bytes, 0, bytes.length, moment));
}

test.each([null, 2])('digits behind the point that the model gives: %s', async (fraction) => {
  const cases = values.flatMap(([type, ...texts]) => [...texts, null].map((text) => ({ type, text })));
  const typed = cases.map(({ type, text }) => `CAST(${text === null ? 'NULL' : `$$${text}$$`} AS ${type})`);
  const sent = cases.map(({ type }, at) => sentText(typed[at]!, type, fraction));
  // as the server sends a value in the text format: by the output function of its type
  const asSent = sent.map(({ expression }, at) => {
    return `CASE WHEN ${typed[at]} IS NOT NULL THEN format('%s', ${expression}) END AS s${at}`;
  });
  const asText = cases.map(({ type }, at) => `${lexicalText(typed[at]!, type, fraction)} AS l${at}`);
  const database = await createEmptyDatabase();
  const [row] = await database.sql.begin(async (transaction) => {
    await transaction.unsafe("SET LOCAL TimeZone = 'UTC'");
    return transaction.unsafe(`SELECT ${[...asSent, ...asText].join(', ')}`);
  });
  await database.drop();
  const found = cases.map((each, at) => ({ ...each, found: settled(row![`s${at}`], sent[at]!.moment) }));
  expect(found).toEqual(cases.map((each, at) => ({ ...each, found: row![`l${at}`] })));
});

test('whole numbers, decimals and texts are sent without being made text first', () => {
  for (const type of ['bigint', 'numeric', 'numeric(12,4)', 'text', 'character varying(5)', 'date'])
    expect(sentText('c', type, null)).toEqual({ expression: 'c', moment: null });
});
