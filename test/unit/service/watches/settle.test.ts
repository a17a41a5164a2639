/** From the end of a job of a watch to the state of its files. */
import { describe, expect, it } from 'vitest';
import type { OnDrift, OpenJob } from '../../../../src/ports/stores/watches.ts';
import { changedFileCode, settle } from '../../../../src/service/watches/turn.ts';

type Reject = OpenJob['rejects'][number];
const reject = (document: string | null, more: Partial<Reject> = {}): Reject =>
  ({ document, code: 'malformed', line: 3, column: 7, message: 'an end tag is missing', ...more }) as Reject;

const job = (more: Partial<OpenJob>, names = ['a.xml', 'b.xml.gz', 'c.zip']): OpenJob =>
  ({
    idJob: 7,
    idSch: 1,
    end: 'failed',
    neverRan: false,
    failure: null,
    rejects: [],
    files: names.map((name, at) => ({ idFile: at + 1, name })),
    ...more,
  }) as unknown as OpenJob;

const settled = (ended: OpenJob, failures = 0, onDrift: OnDrift = 'evolve') =>
  settle(ended, { onDrift, failures, inOrder: false });
const states = (ended: OpenJob, ...more: [failures?: number, onDrift?: OnDrift]): string[] =>
  settled(ended, ...more).files.map(({ status }) => status);

/** The second of its files is gone. */
const gone = (more: Partial<OpenJob>): OpenJob => {
  const { files, ...others } = job(more);
  return { ...others, files: files.map((file, at) => ({ ...file, removes: at === 1 })) };
};

describe('files of a job that has ended', () => {
  it('are loaded where it completed', () => {
    const { files, watch } = settled(job({ end: 'completed' }));
    expect(files.map(({ status }) => status)).toEqual(['loaded', 'loaded', 'loaded']);
    expect(watch).toMatchObject({ failures: 0, stalled: null, usedSch: 1 });
  });

  it('are removed where they are gone and it completed; else they wait, whatever the others are loaded by', () => {
    expect(settled(gone({ end: 'completed' })).files[1]).toEqual({
      idFile: 2,
      status: 'ignored',
      removed: true,
      reason: 'it was removed from the location: job 7 removed its documents',
    });
    const drift = reject('a.xml', { code: 'unmapped_content' } as Partial<Reject>);
    expect(settled(gone({ rejects: [drift] })).files).toMatchObject(
      [1, 2, 3].map((idFile) => ({ idFile, status: 'waiting', reason: null })),
    );
  });

  it('are replaced by later files, those of earlier jobs, too', () => {
    const replaced = [
      { name: 'a.xml', by: 'c.zip', ofJob: true },
      { name: 'c.zip', by: 'b.xml.gz', ofJob: false },
    ];
    const { files, replaced: earlier } = settled(job({ end: 'completed', replaced }));
    expect(files).toMatchObject([
      { idFile: 1, status: 'replaced', replacedBy: 'c.zip' },
      { idFile: 2, status: 'loaded' },
      { idFile: 3, status: 'loaded' },
    ]);
    expect(earlier).toEqual([replaced[1]]);
  });

  it('are kept aside where they are to blame; the others wait', () => {
    const { files } = settled(job({ rejects: [reject('b.xml')] }));
    expect(files).toMatchObject([
      { status: 'waiting' },
      { status: 'rejected', reason: 'line 3, column 7: an end tag is missing' },
      { status: 'waiting' },
    ]);
  });

  it('are ignored where another version took their place before they were read', () => {
    expect(states(job({ rejects: [reject('a.xml', { code: changedFileCode } as Partial<Reject>)] }))).toEqual(
      ['ignored', 'waiting', 'waiting'],
    );
  });

  it('are loaded without members of an archive that were skipped, which their reason says', () => {
    const { files } = settled(job({ end: 'completed', rejects: [reject('c.zip/in/1.xml')] }));
    expect(files.map(({ status }) => status)).toEqual(['loaded', 'loaded', 'loaded']);
    expect(files[2]!.reason).toMatch(/^without 1 of its documents: line 3/);
  });

  it('are loaded without documents of theirs that were skipped, and kept aside for one of them that ends the job', () => {
    const { files } = settled(job({ end: 'completed', rejects: [reject('a.xml#2'), reject('a.xml#3')] }));
    expect(files.map(({ status }) => status)).toEqual(['loaded', 'loaded', 'loaded']);
    expect(files[0]!.reason).toMatch(/^without 2 of its documents: line 3/);
    expect(states(job({ rejects: [reject('a.xml#2')] }))).toEqual(['rejected', 'waiting', 'waiting']);
  });

  it('are tried in halves where nothing tells which is to blame, down to one', () => {
    const failed = job({ failure: 'out of memory' });
    const { files } = settled(failed);
    expect(files.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(new Set(files.map(({ batch }) => batch))).toEqual(new Set(['7 first half', '7 second half']));
    expect(settled(job({ failure: 'out of memory' }, ['a.xml'])).files).toMatchObject([
      { status: 'rejected', reason: 'job 7: out of memory' },
    ]);
  });

  it('wait, for longer and longer, where job after job fails without a culprit', () => {
    const pauses = [3, 4, 5, 30].map((failures) => settled(job({ failure: 'no' }), failures));
    for (const { files, watch } of pauses) {
      expect(files.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting']);
      expect(watch.stalled).toBe('job 7: no');
    }
    const [first, second, third, last] = pauses.map(({ pauseMs }) => pauseMs);
    expect([second! / first!, third! / second!]).toEqual([2, 2]);
    expect(last).toBe(15 * 60_000);
  });

  it('wait where the job never ran, and are kept aside where a person ended it', () => {
    expect(states(job({ neverRan: true }))).toEqual(['waiting', 'waiting', 'waiting']);
    expect(states(job({ end: 'killed' }))).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

describe('content that the schema does not know', () => {
  const drift = job({ rejects: [reject('a.xml', { code: 'unmapped_content' } as Partial<Reject>)] });

  it('waits for the next job where a person has said meanwhile that it is loaded', () => {
    const { files, watch } = settled(drift);
    expect(files.map(({ status }) => status)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(watch.paused).toBeUndefined();
  });

  it('pauses the watch where that is asked for, and loads nothing', () => {
    const { files, watch } = settled(drift, 0, 'fail');
    expect(files.map(({ status, batch }) => [status, batch])).toEqual(
      Array.from({ length: 3 }, () => ['waiting', undefined]),
    );
    expect(watch).toMatchObject({ paused: true, stalled: expect.stringContaining('an end tag') as string });
  });
});

const rows = (more: Partial<OpenJob>) =>
  settle(job(more, ['id=7']), { onDrift: 'evolve', failures: 0, inOrder: true });

describe('rows of a database, which are loaded in their order', () => {
  it('wait behind one that is rejected, and the watch says so', () => {
    const { files, watch } = rows({ rejects: [reject('id=9.xml')] });
    expect(files).toMatchObject([{ status: 'rejected' }]);
    expect(watch.stalled).toMatch(
      /^rows from id=7 on are not loaded: line 3, column 7: an end tag is missing; /,
    );
    expect(rows({ end: 'killed', failure: 'by ann' }).watch.stalled).toContain('job 7: by ann');
  });

  it('are tried again after a fault that is of no row', () => {
    const { files, watch, pauseMs } = rows({ failure: 'the disk is full' });
    expect(files).toMatchObject([{ status: 'waiting' }]);
    expect(watch.stalled).toBe('job 7: the disk is full');
    expect(pauseMs).toBeGreaterThan(0);
    expect(rows({ end: 'completed' }).watch.stalled).toBeNull();
  });
});
