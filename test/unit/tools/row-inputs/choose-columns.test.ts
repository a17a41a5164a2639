/** Which column holds documents, and which options of rows go together. */
import { describe, expect, it } from 'vitest';
import { parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';
import type { QueryColumn } from '../../../../src/ports/row-source.ts';
import { chooseColumns } from '../../../../src/tools/session/row-marks.ts';

const column = (
  name: string,
  holds: QueryColumn['holds'],
  type: QueryColumn['type'] = 'text',
): QueryColumn => ({
  name,
  holds,
  type,
});
const id = column('id', 'other', 'bigint');
const extraColumns = [] as const;

describe('the column of documents', () => {
  it.each([
    [[id, column('payload', 'xml'), column('note', 'text')], 1],
    [[id, column('payload', 'text')], 1],
    [[column('payload', 'bytes'), id], 0],
  ])('is the only one that can be it', (columns, document) => {
    expect(chooseColumns(columns, { extraColumns })).toEqual({
      document,
      carried: columns.flatMap((_, at) => (at === document ? [] : [at])),
      after: null,
    });
  });

  it.each([
    [[column('a', 'text'), column('b', 'bytes')], {}, 'documents could be in a, b'],
    [[column('a', 'xml'), column('b', 'xml')], {}, 'documents could be in a, b'],
    [[id], {}, 'no column holds text, bytes or XML (there are id)'],
    [
      [id, column('a', 'text')],
      { xmlColumn: 'c' },
      '--xml-column c: there is no such column (there are id, a)',
    ],
    [[id, column('a', 'text')], { xmlColumn: 'id' }, 'holds neither text nor bytes'],
    [[id, column('a', 'text')], { after: { column: 'a' } }, 'cannot order rows'],
    [[id, column('ID', 'text')], {}, 'have the column ID twice'],
    [[column('document_key', 'other'), column('a', 'text')], {}, 'is reserved'],
    [[column('', 'other'), column('a', 'text')], {}, 'is not the name of a column'],
  ])('is said where it is not clear', (columns, request, why) => {
    expect(() => chooseColumns(columns, { extraColumns, ...request })).toThrow(why);
  });
});

describe('options of rows', () => {
  const from = ['--from', 'postgresql://ann@db/shop', '--query', 'SELECT 1'];
  it.each([
    [['a.xml', '--query', 'SELECT 1'], '--query selects rows of --from, so it needs --from'],
    [['a.xml', ...from], '--from replaces inputs: omit it, or a.xml'],
    [['--from', 'postgresql://ann@db/shop'], '--from DATABASE needs --query'],
    [['--from', 'a.csv', '--query', 'SELECT 1'], '--query is for databases'],
    [
      ['--from', 'a.txt'],
      'must be postgresql://…, mysql://…, sqlite:FILE, duckdb:FILE, or a file whose name ends in',
    ],
    [['--from', 'metadb:x', '--query', 'SELECT 1'], 'the metadata database is only for the service itself'],
    [[...from, '--after', '=1', '-o', 'out'], 'must be COLUMN or COLUMN=VALUE'],
    [[...from, '--after', 'id', '-o', 'out', '-S', 'o'], 'it needs -S a (append) or -S m (merge)'],
    [
      [...from, '--after', 'id', '-o', 'out', '-S', 'm', '--delete-missing'],
      'would remove the documents loaded before',
    ],
  ])('%j are refused', (argv, why) => {
    expect(() => parseToolArguments('xml2er', argv)).toThrow(why);
  });

  it('are taken together', () => {
    expect(parseToolArguments('xml2er', [...from, '--after', 'at=2026-01-01=x', '-o', 'out'])).toMatchObject({
      inputs: [],
      from: 'postgresql://ann@db/shop',
      after: { column: 'at', mark: '2026-01-01=x' },
    });
    expect(
      parseToolArguments('xml2er', ['--from', 's3://bucket/a.parquet', '--credential', 'c']),
    ).toMatchObject({
      credential: 'c',
    });
  });
});
