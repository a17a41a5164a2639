/** `node spark-task.ts WORK UNIT`: one attempt at a unit of a job on Spark; ends with its stdin, which the executor holds. */
import { randomBytes } from 'node:crypto';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../adapters/node/durable-file.ts';
import { InputError } from '../engine/diagnostics.ts';
import { createTokenizerKernels } from '../engine/xml/fast-tokenizer.ts';
import { AppError } from '../errors.ts';
import { requestDefaults } from '../jobs/tool-request.ts';
import type { RowSink } from '../ports/row-sink.ts';
import { openInputs, type InputMember } from './input-files.ts';
import { Loader } from './load-rows.ts';
import { createRejects } from './rejects.ts';
import { commitAttempt, readJson } from './spark-work.ts';
import type { SparkJob, UnitMember, UnitReport } from './spark-work.ts';

const [work, number] = process.argv.slice(2);
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
await runUnit(work!, Number(number));
process.exit(0);

async function runUnit(folder: string, unit: number): Promise<void> {
  const job = await readJson<SparkJob>(join(folder, 'job.json'));
  const members = await readJson<readonly UnitMember[]>(join(folder, 'units', `${unit}.json`));
  const attempt = join(folder, 'attempts', `${unit}-${randomBytes(8).toString('hex')}`);
  await mkdir(attempt, { mode: 0o700 });
  try {
    const report = await shred(job, members, attempt).catch((error: unknown) => {
      if (!(error instanceof InputError) && !(error instanceof AppError)) throw error;
      return failed(error.message);
    });
    await writeNewFile(join(attempt, 'report.json'), JSON.stringify(report));
    await commitAttempt(folder, unit, attempt);
  } catch (error) {
    await rm(attempt, { recursive: true, force: true });
    throw error;
  }
}

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

/** The members as the units list them: those of one file stand together, in the file's order. */
async function* membersOf(job: SparkJob, wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
  for (let next = 0; next < wanted.length;) {
    const { file } = wanted[next]!;
    // the name chose them when the units were made
    const inputs = await openInputs([file], (name) => /\.xml$/i.test(name), job.archiveLimits, job.links);
    const before = next;
    for await (const member of inputs.members()) {
      const unit = wanted[next];
      if (unit?.file !== file) break;
      if (unit.member !== member.source.member) continue;
      yield { ...member, name: unit.name, path: unit.path };
      next += 1;
    }
    if (next === before || wanted[next]?.file === file)
      throw new AppError('unprocessable_input', `${file}: the file changed since the job began`);
  }
}
