/** A log ends at its size, with whole lines and a last one that says so; over attempts and notes, too. */
import { describe, expect, it } from 'vitest';
import { boundedLog } from '../../../../src/service/jobs/log.ts';

const encoder = new TextEncoder();
const last = (most: number): string =>
  `the log ends here, at ${most} bytes (svc.limits.job_log): further lines are omitted; the result of the job is in its record\n`;

function kept() {
  let text = '';
  const log = {
    append: async (bytes: Uint8Array) => void (text += new TextDecoder().decode(bytes)),
    close: async () => undefined,
  };
  return {
    /** as one attempt opens it */
    open: (most: number) => boundedLog(log, encoder.encode(text).length, most),
    text: () => text,
  };
}

describe('a bounded log', () => {
  it('is as it was written while it fits', async () => {
    const { open, text } = kept();
    const log = open(300);
    await log.append(encoder.encode('one\ntw'));
    await log.append(encoder.encode('o\n'));
    expect(text()).toBe('one\ntwo\n');
  });

  it('ends with a whole line and says so, and takes nothing more', async () => {
    const { open, text } = kept();
    const log = open(200);
    for (let at = 0; at < 1000; at += 1) await log.append(encoder.encode(`rejected ${at}\nnext ${at}\n`));
    await log.close();
    expect(text().length).toBeLessThanOrEqual(200);
    expect(text().startsWith('rejected 0\nnext 0\nrejected 1\n')).toBe(true);
    expect(text().endsWith(`\n${last(200)}`)).toBe(true);
    const again = open(200);
    await again.append(encoder.encode('the next attempt\n'));
    expect(text().endsWith(`\n${last(200)}`)).toBe(true);
    expect(text().split('the log ends here')).toHaveLength(2);
  });

  it('ends a line that came in pieces before it says so', async () => {
    const { open, text } = kept();
    const log = open(200);
    await log.append(encoder.encode('x'.repeat(20)));
    await log.append(encoder.encode('y'.repeat(500)));
    expect(text()).toBe(`${'x'.repeat(20)}\n${last(200)}`);
  });

  it('counts what is there already, and one line that is far too long', async () => {
    const { open, text } = kept();
    await open(1000).append(encoder.encode(`${'a'.repeat(149)}\n`));
    await open(200).append(encoder.encode('more\n'));
    expect(text()).toBe(`${'a'.repeat(149)}\n`);
    const other = kept();
    await other.open(200).append(encoder.encode('z'.repeat(100_000)));
    expect(other.text()).toBe(last(200));
  });
});
