/** The room that fetched inputs may take. */
import { describe, expect, it } from 'vitest';
import { createFetchRoom } from '../../../../src/tools/session/remote-sources.ts';

const mebibyte = 1024 * 1024;
const none = Number.MAX_SAFE_INTEGER;

describe('inputs that are fetched', () => {
  it('end at the limit of the organisation', () => {
    const take = createFetchRoom({ directory: '/', maxBytes: 1000 });
    take(1000);
    expect(() => take(1)).toThrow(
      expect.objectContaining({
        code: 'unprocessable_input',
        message: expect.stringContaining('svc.limits.disk'),
      }),
    );
  });

  it.each([
    [10 * 1024, 1024],
    [100 * 1024, 5 * 1024],
  ])('leave room on a disk of %d MiB', (all, least) => {
    let free = (least + 100) * mebibyte;
    const room = () => ({ free, all: all * mebibyte });
    const take = createFetchRoom({ directory: '/', maxBytes: none, room });
    let taken = 0;
    const fetch = (): void => {
      for (;;) {
        take(mebibyte);
        free -= mebibyte;
        taken += 1;
      }
    };
    expect(fetch).toThrow(expect.objectContaining({ code: 'service_unavailable' }));
    expect(taken).toBeLessThan(100 + 64);
  });
});
