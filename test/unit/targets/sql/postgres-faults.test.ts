/** Faults of the driver: their cause is told, values that may be secret are not. */
import { describe, expect, it } from 'vitest';
import postgres from 'postgres';
import { AppError } from '../../../../src/errors.ts';
import { targetFault } from '../../../../src/targets/sql/postgres/connection.ts';

function thrownBy(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

function told(error: Error): string {
  const fault = targetFault(error, 'db:5432/x');
  expect(fault).toBeInstanceOf(AppError);
  expect((fault as AppError).code).toBe('unprocessable_input');
  expect((fault as AppError).cause).toBe(error);
  return (fault as AppError).message;
}

describe('a fault of the driver', () => {
  it('is told with its kind, its module and its words', () => {
    const error = thrownBy(() => (postgres as unknown as (at: number, options: object) => unknown)(5, {}));
    expect(error).toBeInstanceOf(TypeError);
    expect(told(error)).toMatch(
      /^db:5432\/x: the server does not answer as PostgreSQL does \(TypeError in postgres\/src\/index\.js:\d+: .+\)$/,
    );
  });

  it('leaves out the value that a message of Node ends with', () => {
    const error = thrownBy(() => Buffer.byteLength(['hunter2'] as unknown as string));
    expect(error.message).toContain('Received an instance of Array');
    const named = thrownBy(() =>
      Buffer.from('x')
        .subarray(0)
        .writeUInt32BE(5, 'hunter2' as unknown as number),
    );
    expect(named.message).toContain("('hunter2')");
    const words = told(named);
    expect(words).toContain('The "offset" argument must be of type number');
    expect(words).not.toContain('hunter2');
  });

  it('leaves out what could not be read as JSON or as a number', () => {
    const json = thrownBy(() => JSON.parse('hunter2') as unknown);
    expect(json.message).toContain('hunter2');
    expect(told(json)).toContain('PostgreSQL does (SyntaxError in ');
    expect(told(json)).not.toContain('hunter2');
    expect(told(thrownBy(() => BigInt('hunter2')))).not.toContain('hunter2');
  });

  it('is no fault of the server where memory is missing', () => {
    const error = new RangeError('Array buffer allocation failed');
    expect(targetFault(error, 'db:5432/x')).toBe(error);
  });
});
