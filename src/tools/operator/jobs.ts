/** `status`, `jobs`, `job` and `log`: how it goes, for a person at the machine of the service. */
import { readBuildInfo } from '../../runtime/build-info.ts';
import { AppError } from '../../errors.ts';
import { followJobLog, streamJobLog } from '../../service/jobs/log.ts';
import { terminalStatuses, type JobRecord, withStatusLetter } from '../../service/jobs/record.ts';
import { textTable } from '../cli/terminal.ts';
import { number, organisation, time, type Command, type Opened } from './specification.ts';

const everyStatus = [
  'queued',
  'running',
  'waiting',
  'terminating',
  'completed',
  'failed',
  'killed',
  'expired',
  'lost',
] as const;
/** between two looks at a log that grows */
const pollMs = 500;

export const jobCommands: Readonly<Record<string, Command>> = {
  status: {
    words: [],
    options: ['org'],
    meaning: 'the installation, its jobs by state, its schemas and targets',
    async run({ adapters, home, database }, _, options) {
      const idOrg = organisation(options);
      const { jobs, catalog } = adapters;
      const [counts, ageMs, origins, targets, build] = await Promise.all([
        jobs.countByStatus(),
        jobs.queueAgeMs(),
        catalog.listOrigins(idOrg),
        catalog.listTargetSchemas(idOrg),
        readBuildInfo(),
      ]);
      const byStatus = Object.fromEntries(everyStatus.map((status) => [status, counts.get(status) ?? 0]));
      const shown = everyStatus.filter((status) => byStatus[status]! > 0);
      const rows = [
        ['version', build.version],
        ['home folder', home.directory],
        ['database', database],
        ['jobs', shown.map((status) => `${byStatus[status]} ${status}`).join(', ') || 'none'],
        ['longest wait', `${Math.round(ageMs / 1000)} s`],
        ['schemas', String(origins.length)],
        ['targets', targets.map(({ name }) => `metadb:${name}`).join(', ') || 'none'],
      ];
      return {
        text: textTable(null, rows),
        json: {
          version: build.version,
          home: home.directory,
          database,
          jobs: byStatus,
          queue_age_seconds: ageMs / 1000,
          schemas: origins.length,
          targets: targets.map(({ name }) => name),
        },
      };
    },
  },
  jobs: {
    words: [],
    options: ['org', 'page', 'size'],
    meaning: 'jobs, the newest first',
    async run({ adapters }, _, options) {
      const { page = '0', size = '20' } = options;
      const found = await adapters.jobs.listJobs(
        organisation(options),
        number('--page', page, 0),
        number('--size', size, 1),
      );
      const head = ['JOB', 'STATUS', 'TYPE', 'SCHEMA', 'DOCUMENTS', 'STARTED', 'TOOK', 'PARAMETERS'];
      const rows = found.content.map((job) => [
        String(job.id_job),
        stateOf(job),
        job.job_type,
        String(job.id_sch ?? ''),
        String(job.msg_proc_qty),
        time(job.start_date),
        duration(job),
        job.params,
      ]);
      const rest = found.totalElements - (found.page + 1) * found.size;
      const more = rest > 0 ? `\n${rest} more: --page ${found.page + 1}` : '';
      return { text: textTable(head, rows) + more, json: found.content.map(withStatusLetter) };
    },
  },
  job: {
    words: ['ID'],
    options: ['org'],
    meaning: 'one job',
    async run(opened, [id = ''], options) {
      const job = await findJob(opened, organisation(options), id);
      const { id_job: idJob, status, params_json: _, ...members } = job;
      const rows = Object.entries(members)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => [
          name,
          name.endsWith('_date')
            ? time(value as number)
            : name === 'progress'
              ? `${Math.floor((value as number) * 100)} %`
              : String(value),
        ]);
      return {
        text: textTable(null, [
          ['id_job', String(idJob)],
          ['status', status],
          ...rows,
          ['took', duration(job)],
        ]),
        json: withStatusLetter(job),
      };
    },
  },
  log: {
    words: ['ID'],
    options: ['org', 'follow'],
    meaning: 'the log of a job; --follow: until it ends',
    async run(opened, [id = ''], options) {
      const idOrg = organisation(options);
      const job = await findJob(opened, idOrg, id);
      const pieces =
        options.follow === true && !terminalStatuses.has(job.status)
          ? followed(opened, idOrg, job.id_job)
          : streamJobLog(opened.adapters, idOrg, job.id_job);
      const text = decoded(pieces);
      if (options.json !== true) return { text, json: null };
      let whole = '';
      for await (const piece of text) whole += piece;
      return { text: whole, json: { id_job: job.id_job, lines: whole.split('\n').slice(0, -1) } };
    },
  },
};

async function* followed(
  { adapters }: Opened,
  idOrg: number,
  idJob: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const abort = new AbortController();
  const options = { offset: 0, pollMs, signal: abort.signal, mayGoOn: () => Promise.resolve(true) };
  for await (const event of followJobLog(adapters, idOrg, idJob, options))
    if (event.kind === 'data') yield event.bytes;
}

async function* decoded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield decoder.decode(piece, { stream: true });
}

/** AppError `not_found` names the newest job. */
async function findJob({ adapters }: Opened, idOrg: number, text: string): Promise<JobRecord> {
  const idJob = number('ID', text, 1);
  const job = await adapters.jobs.findJob(idOrg, idJob);
  if (job !== null) return job;
  const [newest] = (await adapters.jobs.listJobs(idOrg, 0, 1)).content;
  const next =
    newest === undefined
      ? 'there is none yet'
      : `the newest is ${newest.id_job}; conversion-job-service jobs lists them`;
  throw new AppError('not_found', `there is no job ${idJob}; ${next}`);
}

/** `running 42 %` */
function stateOf({ status, progress }: JobRecord): string {
  return status === 'running' && progress !== null ? `running ${Math.floor(progress * 100)} %` : status;
}

function duration({ start_date: start, end_date: end }: JobRecord): string {
  return start === null ? '' : `${(((end ?? Date.now()) - start) / 1000).toFixed(1)} s`;
}
