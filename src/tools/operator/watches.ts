/** Commands for watches, equivalent to /v2/watches, for users who can read the home folder. */
import { AppError } from '../../errors.ts';
import {
  watchFileStatuses,
  type WatchFileRecord,
  type WatchFileStatus,
  type WatchRecord,
} from '../../ports/stores/watches.ts';
import { changeWatch, createWatch, type WatchMembers } from '../../service/watches/define.ts';
import { textTable } from '../cli/terminal.ts';
import { number, organisation, time, UsageError, type Answer, type Command } from './specification.ts';
import type { Opened, Options } from './specification.ts';

export const watchCommands: Readonly<Record<string, Command>> = {
  'watches list': {
    words: [],
    options: ['org', 'page', 'size'],
    meaning: 'locations that are checked for new documents',
    async run({ adapters }, _, options) {
      const { page = '0', size = '20' } = options;
      const found = await adapters.watches.listWatches(
        organisation(options),
        number('--page', page, 0),
        number('--size', size, 1),
      );
      const head = [
        'WATCH',
        'NAME',
        'STATE',
        'LOCATION',
        'TARGET',
        'WAITING',
        'LOADED',
        'REJECTED',
        'NEXT RUN',
      ];
      const rows = found.content.map((watch) => [
        String(watch.id_watch),
        watch.name,
        stateOf(watch),
        watch.location,
        watch.target,
        String(watch.files.waiting),
        String(watch.files.loaded),
        String(watch.files.rejected),
        time(watch.next_run),
      ]);
      return { text: textTable(head, rows), json: found.content };
    },
  },
  'watches add': {
    words: ['NAME', 'LOCATION', 'TARGET'],
    options: [
      ...(['every', 'pattern', 'schema', 'options', 'order', 'settle', 'on-error', 'on-drift'] as const),
      ...(['max-files', 'max-bytes', 'credential', 'org'] as const),
    ],
    meaning: 'loads new files into the target, each once',
    async run(opened, [name = '', location = '', target = ''], options) {
      if (options.every === undefined)
        throw new UsageError('--every is needed: a duration such as 5m, or cron');
      const members = { name, location, target, every: options.every, ...givenMembers(options) };
      return shown(
        await createWatch(
          opened.adapters,
          settingsOf(opened),
          organisation(options),
          members as WatchMembers,
        ),
      );
    },
  },
  'watches show': {
    words: ['WATCH'],
    options: ['org'],
    meaning: 'one of them, by its id or name',
    run: async (opened, [word = ''], options) => shown(await found(opened, word, options)),
  },
  'watches files': {
    words: ['WATCH'],
    options: ['status', 'org', 'page', 'size'],
    meaning: 'its files, the newest first',
    async run(opened, [word = ''], options) {
      const { page = '0', size = '50', status } = options;
      const { id_watch: idWatch } = await found(opened, word, options);
      const files = await opened.adapters.watches.listWatchFiles(
        organisation(options),
        idWatch,
        status === undefined ? null : statusOf(status),
        number('--page', page, 0),
        number('--size', size, 1),
      );
      const content = files?.content ?? [];
      return {
        text: textTable(['FILE', 'STATE', 'JOB', 'BYTES', 'MET', 'REASON'], content.map(fileRow)),
        json: content,
      };
    },
  },
  'watches run': {
    words: ['WATCH'],
    options: ['retry', 'org'],
    meaning: 'checks its location now; --retry: rejected files are tried again',
    async run(opened, [word = ''], options) {
      const { id_watch: idWatch } = await found(opened, word, options);
      const retry = options.retry === true ? 'all' : 'none';
      return shown((await opened.adapters.watches.runNow(organisation(options), idWatch, retry))!);
    },
  },
  'watches pause': {
    words: ['WATCH'],
    options: ['org'],
    meaning: 'stops it',
    run: (opened, [word = ''], options) => setPaused(opened, word, options, true),
  },
  'watches resume': {
    words: ['WATCH'],
    options: ['org'],
    meaning: 'resumes it',
    run: (opened, [word = ''], options) => setPaused(opened, word, options, false),
  },
  'watches remove': {
    words: ['WATCH'],
    options: ['org'],
    meaning: 'removes it and its list of files; rows and jobs stay',
    async run(opened, [word = ''], options) {
      const { id_watch: idWatch, name } = await found(opened, word, options);
      await opened.adapters.watches.removeWatch(organisation(options), idWatch);
      return { text: `watch ${idWatch} (${name}) was removed`, json: { id_watch: idWatch } };
    },
  },
};

/** Enables commands: a user who can read the home folder may run commands, whatever requests may do. */
function settingsOf({ config }: Opened) {
  return { ...config, commandsEnabled: true };
}

async function setPaused(opened: Opened, word: string, options: Options, paused: boolean): Promise<Answer> {
  const { id_watch: idWatch } = await found(opened, word, options);
  const idOrg = organisation(options);
  return shown(await changeWatch(opened.adapters, settingsOf(opened), idOrg, idWatch, { paused }));
}

/** Finds a watch by its name, otherwise by its id. AppError `not_found` lists the existing ones. */
async function found(
  { adapters: { watches } }: Opened,
  word: string,
  options: Options,
): Promise<WatchRecord> {
  const idOrg = organisation(options);
  const named = await watches.findWatchNamed(idOrg, word);
  const watch = named ?? (/^\d{1,15}$/.test(word) ? await watches.findWatch(idOrg, Number(word)) : null);
  if (watch !== null) return watch;
  throw new AppError('not_found', `there is no watch ${word}; conversion-job-service watches lists them`);
}

function givenMembers(options: Options): Readonly<Record<string, unknown>> {
  const { pattern, schema, order, settle, credential } = options;
  const { 'on-error': onError, 'on-drift': onDrift, 'max-files': files, 'max-bytes': bytes } = options;
  return {
    pattern,
    settle,
    credential,
    order: order === undefined ? undefined : oneOf('--order', order, ['name', 'modified']),
    id_sch: schema === undefined ? undefined : number('--schema', schema, 1),
    options: options.options === undefined ? undefined : flagsIn(options.options),
    on_error: onError === undefined ? undefined : oneOf('--on-error', onError, ['fail', 'skip']),
    on_drift: onDrift === undefined ? undefined : oneOf('--on-drift', onDrift, ['keep', 'evolve', 'fail']),
    max_files: files === undefined ? undefined : number('--max-files', files, 1),
    max_bytes: bytes === undefined ? undefined : number('--max-bytes', bytes, 1),
  };
}

function oneOf(option: string, value: string, values: readonly string[]): string {
  if (!values.includes(value)) throw new UsageError(`${option} must be one of ${values.join(', ')}`);
  return value;
}

function flagsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const flags = JSON.parse(text) as unknown;
    if (typeof flags === 'object' && flags !== null && !Array.isArray(flags))
      return flags as Readonly<Record<string, unknown>>;
  } catch {
    // reported below, like JSON that is not an object
  }
  throw new UsageError(`--options must be an object of flags, such as '{"-f": "parquet"}'`);
}

function statusOf(text: string): WatchFileStatus {
  const status = watchFileStatuses.find((known) => known === text);
  if (status === undefined) throw new UsageError(`--status must be one of ${watchFileStatuses.join(', ')}`);
  return status;
}

function stateOf({ paused, stalled, id_job: idJob }: WatchRecord): string {
  if (stalled !== null) return 'stalled';
  if (paused) return 'paused';
  return idJob === null ? 'active' : `loading in job ${idJob}`;
}

function fileRow({ name, status, id_job: idJob, bytes, seen_at: seenAt, reason }: WatchFileRecord): string[] {
  return [name, status, idJob === null ? '' : String(idJob), String(bytes), time(seenAt), reason ?? ''];
}

function shown(watch: WatchRecord): Answer {
  const { files, options, ...members } = watch;
  const rows = Object.entries(members)
    .filter(([name, value]) => value !== null && name !== 'id_org')
    .map(([name, value]) => [name, isTime(name) ? time(value as number) : String(value)]);
  const counts = Object.entries(files).map(([status, count]) => `${count} ${status}`);
  return {
    text: textTable(null, [...rows, ['options', JSON.stringify(options)], ['files', counts.join(', ')]]),
    json: watch,
  };
}

function isTime(name: string): boolean {
  return /^(?:created|next_run|last_run|stalled_at|waiting_since)$/.test(name);
}
