/** `node spark-task.ts WORK UNIT`: the rows of a unit's documents. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createTokenizerKernels } from '../engine/xml/fast-tokenizer.ts';
import { requestDefaults } from '../jobs/tool-request.ts';
import type { RowSink } from '../ports/row-sink.ts';
import { Loader } from './load-rows.ts';
import { createRejects } from './rejects.ts';
import { membersOf, runAttempt } from './spark-attempt.ts';
import type { SparkJob, UnitMember, UnitReport } from './spark-work.ts';

await runAttempt(shred, failed);

function failed(failure: string): UnitReport {
  const details = { unmapped: [], ignored: 0, rejects: [] };
  const nothing = { misfits: [], relaxed: [], chunks: [], lines: [] };
  return { failure, documents: 0, bytes: 0, unknownPaths: 0, details, statistics: null, ...nothing };
}

async function shred(job: SparkJob, members: readonly UnitMember[], attempt: string): Promise<UnitReport> {
  const file = await open(join(attempt, 'rows'), 'wx', 0o600);
  const misfits: UnitReport['misfits'][number][] = [];
  const relaxed: UnitReport['relaxed'][number][] = [];
  const chunks: UnitReport['chunks'][number][] = [];
  const lines: string[] = [];
  const sink: Pick<RowSink, 'encoding' | 'widensInPlace' | 'write' | 'writeSide' | 'misfit' | 'relax'> = {
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
    misfit: async (value) => void misfits.push(value),
    relax: (table, column) => void relaxed.push([table, column]),
  };
  try {
    const session = {
      request: { ...requestDefaults, tool: 'xml2er', ...job.request } as const,
      limits: job.limits,
      kernels: createTokenizerKernels(),
      idJob: job.idJob,
      byHand: job.byHand,
      log: (line: string) => void lines.push(line),
      progress: () => undefined,
    };
    const options = {
      withStatistics: job.withStatistics,
      rowTag: job.rowTag,
      rejects: createRejects(session.log),
      check: () => Promise.resolve(),
    };
    const loader = new Loader(session, job.logical, sink, options, new Map(job.keyOffsets), 0);
    loader.expect(members.map(({ sha256 }) => sha256));
    for await (const member of membersOf(job, members)) await loader.load(member);
    await loader.flush();
    loader.reportDrift();
    await file.sync();
    const { documents, bytes, unknownPaths, details, statistics } = loader.result();
    return { documents, bytes, unknownPaths, details, statistics, misfits, relaxed, chunks, lines };
  } finally {
    await file.close();
  }
}
