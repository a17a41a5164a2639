/** A stored request is checked before a tool is started with it. */
import { expect, it } from 'vitest';
import { checkStoredRequest, type StoredRequest } from '../../../../src/service/jobs/request/shape.ts';
import { parseExecution, parseToolArguments } from '../../../../src/service/jobs/request/read-request.ts';

const request = parseToolArguments('xml2er', [
  ...'a.xml b.zip -x 4 -a 3,9 -g 0 -o postgresql://u:p@h/d -p c4n4ry'.split(' '),
  ...'--rename a=b --workers 2 -f csv --spark-conf spark.a=b -R c'.split(' '),
  '=v',
]);
const asStored = (value: object): StoredRequest => JSON.parse(JSON.stringify(value)) as StoredRequest;

it.each([
  ['options of a command line', request],
  [
    'the least that a tool takes',
    parseToolArguments('unload', ['-x', '1', '--in', 'metadb:a', '--document', 'b']),
  ],
  [
    'a reference to an earlier job',
    parseExecution(
      'er2xml',
      [
        { pointer: '', flag: '-x', value: '$0' },
        { pointer: '', flag: '--in', value: 'metadb:a' },
        { pointer: '', flag: '-o', value: 'out' },
      ],
      1,
    ),
  ],
])('is taken: %s', (_, given) => {
  expect(() => checkStoredRequest(asStored(given))).not.toThrow();
});

it('is refused by the names of what no request has so; values are not repeated', () => {
  const wrong = { ...request, engine: 'c4n4ry', outPassword: { c4n4ry: 1 }, inputs: 'c4n4ry' };
  const fault = ((): unknown => {
    try {
      checkStoredRequest(asStored(wrong));
    } catch (error) {
      return error;
    }
    return null;
  })();
  expect(fault).toMatchObject({
    code: 'internal_error',
    message: expect.stringMatching(/cannot be read: inputs: .*; outPassword: .*; engine: /),
  });
  expect((fault as Error).message).not.toContain('c4n4ry');
});
