/** Facts that the driver of a job on Spark tells, between the lines of its log and within them. */
import { describe, expect, it } from 'vitest';
import { createFactReader } from '../../../../src/tools/load/spark/orders.ts';

const read = createFactReader('a1b2');

describe('facts of the driver', () => {
  it.each([
    ['a line of its own', '@spark a1b2 {"done": 3, "of": 8}', [{ done: 3, of: 8 }], ''],
    ['two in one line', '@spark a1b2 {"done": 3}@spark a1b2 {"order": 0}', [{ done: 3 }, { order: 0 }], ''],
    ['a line of Java before its end', 'INFO of @spark a1b2 {"order": 1}', [{ order: 1 }], 'INFO of '],
    ['a line of Java behind it', '@spark a1b2 {"order": 1}WARN of', [{ order: 1 }], 'WARN of'],
    ['braces and quotes in a text', '@spark a1b2 {"failure": "a \\"}{ b"}', [{ failure: 'a "}{ b' }], ''],
    ['half a fact', '@spark a1b2 {"order"', [], '@spark a1b2 {"order"'],
    ['another mark', '@spark c3d4 {"order": 1}', [], '@spark c3d4 {"order": 1}'],
    ['a log', 'Running Spark', [], 'Running Spark'],
  ])('%s', (_, line, facts, rest) => {
    expect(read(line)).toEqual({ facts, rest });
  });
});
