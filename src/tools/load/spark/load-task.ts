/** `node src/tools/load/spark/load-task.ts WORK UNIT`: the rows of a unit's documents, or what is wrong with them. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputError } from '../../../engine/diagnostics.ts';
import type { RowSink } from '../../../ports/rows/sink.ts';
import { Loader } from '../row-loader.ts';
import { loaderSession } from '../order.ts';
import { createRejects } from '../rejects.ts';
import { membersOf, runAttempt } from './attempt.ts';
import type { SparkJob, UnitFailure, UnitMember, UnitReport } from './work.ts';

await runAttempt(shred, failed);

function failed(failure: UnitFailure): UnitReport {
  return {
    failure,
    rejects: [],
    findings: null,
    statistics: null,
    unconvertedValues: [],
    nullAllowed: [],
    chunks: [],
  };
}

async function shred(job: SparkJob, members: readonly UnitMember[], attempt: string): Promise<UnitReport> {
  const file = await open(join(attempt, 'rows'), 'wx', 0o600);
  const unconvertedValues: UnitReport['unconvertedValues'][number][] = [];
  const nullAllowed: UnitReport['nullAllowed'][number][] = [];
  const chunks: UnitReport['chunks'][number][] = [];
  const faults: UnitReport['rejects'][number][] = [];
  const sink: Pick<
    RowSink,
    'encoding' | 'widensInPlace' | 'write' | 'writeSide' | 'unconverted' | 'allowNull'
  > = {
    encoding: job.encoding,
    widensInPlace: job.widensInPlace,
    write: async (table, rows, rowCount, release) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
      release?.(rows);
    },
    writeSide: async (table, rows, rowCount) => {
      chunks.push([table, rows.byteLength, rowCount]);
      await file.writeFile(rows);
    },
    unconverted: async (value) => void unconvertedValues.push(value),
    allowNull: (table, column) => void nullAllowed.push([table, column]),
  };
  try {
    const session = loaderSession(job, job.probe ? 'skip' : 'fail');
    const options = {
      withStatistics: job.withStatistics,
      rowTag: job.rowTag,
      rejects: {
        ...createRejects(() => undefined),
        add: async (index: number, { diagnostic }: InputError) =>
          void faults.push([members[index]!.inputIndex, diagnostic]),
      },
    };
    const loader = new Loader(session, job.logical, sink, options, new Map(job.keyOffsets), 0);
    if (job.probe) {
      await loader.probe({ members: () => membersOf(job, members) });
      return {
        rejects: faults,
        findings: null,
        statistics: null,
        unconvertedValues: [],
        nullAllowed: [],
        chunks: [],
      };
    }
    loader.expect({ hashes: members.map(({ sha256 }) => sha256) });
    for await (const member of membersOf(job, members)) await loader.load(member);
    await loader.flush();
    await file.sync();
    const { statistics } = loader;
    return { rejects: [], findings: loader.findings(), statistics, unconvertedValues, nullAllowed, chunks };
  } finally {
    await file.close();
  }
}
