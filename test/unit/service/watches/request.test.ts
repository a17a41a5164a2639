/** What a watch asks of its tool, and what it decides itself. */
import { describe, expect, it } from 'vitest';
import { shownSecrets, watchRequest, type BatchMembers } from '../../../../src/service/watches/define.ts';

const members = (options: BatchMembers['options']): BatchMembers => ({
  location: 'inbox',
  target: 'metadb:orders',
  options,
  onError: 'fail',
  credential: null,
});

describe('the request of a job of a watch', () => {
  it('has location, target and flags, with or without values, once or several times', () => {
    expect(
      watchRequest(members({ '-S': 'm', '--views': true, '--codes': 'table', '--prune': false })),
    ).toMatchObject({
      inputs: ['inbox'],
      out: 'metadb:orders',
      saveMode: 'merge',
      views: true,
      codes: 'table',
    });
  });

  it.each([
    ['-o', 'is set by target'],
    ['-x', 'is set by id_sch'],
    ['--parent', 'is set by on_drift'],
    ['--unmapped', 'is set by on_drift'],
    ['--on-drift', 'is set by on_drift'],
    ['--on-error', 'is set by on_error'],
    ['--credential', 'is set by credential'],
    ['-s', 'saves nothing'],
  ])('is refused with %s: the watch decides that', (flag, why) => {
    expect(() => watchRequest(members({ [flag]: '1' }))).toThrow(why);
  });

  it.each(['e', 'o', 'i', 'w', 'p'])('is refused with -S %s, which would leave files out', (letter) => {
    expect(() => watchRequest(members({ '-S': letter }))).toThrow('-S a (append) and -S m (merge)');
  });

  it('points at the flag that is no option', () => {
    const fault = (() => {
      try {
        return watchRequest(members({ '--nothing': true }));
      } catch (error) {
        return error;
      }
    })();
    expect(fault).toMatchObject({ errors: [{ pointer: expect.stringMatching(/^\/options/) as string }] });
  });
});

it('passwords show as *** in location, target and options', () => {
  const shown = shownSecrets({
    location: 'postgresql://reader:s3cret@db.example/inbox',
    target: 'postgresql://loader:s3cret@db.example/lake',
    options: { '-p': 's3cret', '--spark-conf': ['a=1', 'b=2'] },
  });
  expect(JSON.stringify(shown)).not.toContain('s3cret');
  expect(shown.options['-p']).toBe('***');
  expect(shown.options['--spark-conf']).toEqual(['a=1', 'b=2']);
});
