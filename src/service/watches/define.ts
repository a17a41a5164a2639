/** Definitions of watches. A POST or PATCH becomes a definition only after all of it has been checked. */
import { AppError } from '../../errors.ts';
import { isRemoteLocation, parseRemoteLocation, type RemoteLocation } from '../files/remote-location.ts';
import { rowSourceOf, type RowServer } from '../jobs/request/row-source.ts';
import { checkAccess, type AccessSettings, type AccessFault } from '../jobs/request/check-access.ts';
import { accessError, checkOwners, requireCommands } from '../jobs/submit.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type {
  ObjectOrder,
  OnDrift,
  WatchDefinition,
  WatchRecord,
  WatchClaim,
} from '../../ports/stores/watches.ts';
import { namePart, findOption } from '../jobs/option-table.ts';
import { parseExecution } from '../jobs/request/read-request.ts';
import type { WatchedFiles } from '../jobs/request/shape.ts';
import type { RequestItem, ToolRequest } from '../jobs/request/tool-request.ts';
import { secretsOfAddresses } from '../jobs/request/stored-request.ts';
import { createMask } from '../jobs/mask-secrets.ts';
import { matchedLength, parsePathPattern } from '../files/path-pattern.ts';
import type { FileStore } from '../../ports/files.ts';
import type { SecretBox } from '../../ports/stores/access.ts';
import type { WatchedPlace } from '../../ports/network.ts';

// The schedule: an interval, or five fields of cron in UTC.

interface Schedule {
  /** epoch milliseconds, after `afterMs` */
  next(afterMs: number): number;
  /** time of the first look; null: at once */
  first(nowMs: number): number | null;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Times must stay times: a century is long enough. */
const longestMs = 100 * 366 * 86_400_000;

/** Parses `30s`, `5m`, `2h`, `1d`; returns milliseconds, or null for other text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,10})(s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  const ms = Number(count) * unitMs[unit]!;
  return ms > longestMs ? null : ms;
}

/** AppError `invalid_body` describes the right form. */
export function parseSchedule(text: string): Schedule {
  const everyMs = parseDuration(text);
  if (everyMs !== null) {
    if (everyMs < 1000) throw scheduleFault('must be at least 1s');
    return { next: (afterMs) => afterMs + everyMs, first: () => null };
  }
  const cron = parseCron(text);
  return { next: (afterMs) => nextOf(cron, afterMs), first: (nowMs) => nextOf(cron, nowMs) };
}

interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** if both days of the month and of the week are restricted, a match of either suffices */
  readonly eitherDay: boolean;
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const dayNames = 'sun mon tue wed thu fri sat'.split(' ');

function parseCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5)
    throw scheduleFault(
      'must be a duration such as 30s, 5m or 1h, or five fields of cron in UTC such as "0 6 * * mon-fri"',
    );
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  const weekdays = fieldOf('day of the week', weekday, 0, 7, dayNames, 0);
  const cron = {
    minutes: fieldOf('minute', minute, 0, 59, [], 0),
    hours: fieldOf('hour', hour, 0, 23, [], 0),
    days: fieldOf('day of the month', day, 1, 31, [], 0),
    months: fieldOf('month', month, 1, 12, monthNames, 1),
    // 7 is Sunday, too
    weekdays: new Set([...weekdays].map((number) => number % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  };
  if (Number.isNaN(nextOf(cron, 0))) throw scheduleFault(`${text}: this day does not exist`);
  return cron;
}

function fieldOf(
  what: string,
  text: string,
  min: number,
  max: number,
  names: readonly string[],
  firstName: number,
): ReadonlySet<number> {
  const wrong = (): AppError =>
    scheduleFault(`${what}: ${text} is not a number, list, range or step from ${min} to ${max}`);
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    if (named >= 0) return named + firstName;
    const number = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
    if (!(number >= min && number <= max)) throw wrong();
    return number;
  };
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, range, step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (range === undefined) throw wrong();
    const [from, to] = range === '*' ? [min, max] : boundsOf(range);
    const by = step === undefined ? 1 : Number(step);
    if (by < 1 || from > to) throw wrong();
    for (let number = from; number <= to; number += by) found.add(number);

    function boundsOf(words: string): [number, number] {
      const [first = '', last, ...more] = words.split('-');
      if (more.length > 0) throw wrong();
      const start = numberOf(first);
      if (last === undefined) return [start, step === undefined ? start : max];
      const end = numberOf(last);
      // Sunday is 0 and 7: `fri-sun` ends with it
      return [start, end === 0 && start > 0 && max === 7 ? 7 : end];
    }
  }
  return found;
}

/** Days to search: the 29th of February of a leap year occurs within eight years. */
const daysAhead = 366 * 8 + 3;

/** Returns NaN if there is no such time. */
function nextOf(cron: Cron, afterMs: number): number {
  const start = new Date(afterMs - (afterMs % 60_000) + 60_000);
  let day = Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  for (let ahead = 0; ahead < daysAhead; ahead += 1, day += 86_400_000) {
    if (!isDay(cron, new Date(day))) continue;
    for (let minute = ahead === 0 ? (start.getTime() - day) / 60_000 : 0; minute < 1440; minute += 1)
      if (cron.hours.has(Math.floor(minute / 60)) && cron.minutes.has(minute % 60))
        return day + minute * 60_000;
  }
  return Number.NaN;
}

function isDay({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const ofMonth = days.has(date.getUTCDate());
  const ofWeek = weekdays.has(date.getUTCDay());
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

function scheduleFault(detail: string): AppError {
  return new AppError('invalid_body', `every ${detail}`, { errors: [{ pointer: '/every', detail }] });
}

// Locations that are servers of databases: these have rows, not files.

/** Returns null if the location has files. */
export function rowServerOf(location: string): RowServer | null {
  if (isRemoteLocation(location)) return null;
  const source = rowSourceOf(location);
  return !('fault' in source) && (source.kind === 'postgresql' || source.kind === 'mysql') ? source : null;
}

// Makes and changes watches.

/** The members that a person may set; absent members have their defaults. */
export interface WatchMembers {
  readonly name: string;
  readonly location: string;
  readonly pattern?: string | null | undefined;
  readonly id_sch?: number | null | undefined;
  readonly target: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  readonly every: string;
  readonly order?: ObjectOrder | undefined;
  readonly settle?: string | undefined;
  readonly on_error?: 'fail' | 'skip' | undefined;
  readonly on_drift?: OnDrift | undefined;
  readonly max_files?: number | undefined;
  readonly max_bytes?: number | undefined;
  readonly credential?: string | null | undefined;
  readonly paused?: boolean | undefined;
}

type WatchChange = { readonly [Member in keyof WatchMembers]?: WatchMembers[Member] | undefined };

const watchDefaults: Required<
  Pick<WatchDefinition, 'order' | 'settle' | 'on_error' | 'on_drift' | 'max_files' | 'max_bytes'>
> = {
  order: 'name',
  settle: '30s',
  on_error: 'fail',
  on_drift: 'evolve',
  max_files: 1000,
  max_bytes: 1024 ** 3,
};

type WatchAdapters = Pick<Adapters, 'watches' | 'catalog' | 'files' | 'secrets' | 'credentials' | 'clock'>;
type WatchSettings = AccessSettings & {
  readonly commandsEnabled: boolean;
  readonly limits: { readonly watches: number };
};

/** AppErrors of the faults, with pointers; `conflict` for a name in use; `commands_disabled`; `too_many_requests` past the limit. */
export async function createWatch(
  adapters: WatchAdapters,
  settings: WatchSettings,
  idOrg: number,
  members: WatchMembers,
): Promise<WatchRecord> {
  requireCommands(settings);
  const { definition, nextRunMs } = await define(adapters, settings, idOrg, members);
  return adapters.watches.createWatch(idOrg, definition, nextRunMs, settings.limits.watches);
}

/** Members that are not given stay. AppError `not_found`, and those of `createWatch`. */
export async function changeWatch(
  adapters: WatchAdapters,
  settings: WatchSettings,
  idOrg: number,
  idWatch: number,
  change: WatchChange,
): Promise<WatchRecord> {
  const { watches, secrets } = adapters;
  const [record, sealed] = await Promise.all([
    watches.findWatch(idOrg, idWatch),
    watches.readSealed(idOrg, idWatch),
  ]);
  if (record === null || sealed === null) throw noWatch();
  const isPause = change.paused === true && Object.keys(change).length === 1;
  if (!isPause) requireCommands(settings);
  const given = JSON.parse(await secrets.open(sealed)) as WatchSecrets;
  const before: WatchMembers = { ...membersOf(record), ...given };
  const named = Object.entries(change).filter(([, value]) => value !== undefined);
  const after = { ...before, ...Object.fromEntries(named) } as WatchMembers;
  // a pause takes effect whatever has become of the folder
  const { definition, nextRunMs } = await define(adapters, settings, idOrg, after, isPause);
  const leaves = leftOut(before, after);
  const replaced = await watches.replaceWatch(idOrg, idWatch, definition, nextRunMs, leaves);
  if (replaced === null) throw noWatch();
  return replaced;
}

/**
 * Returns a test for files that the changed watch no longer covers: they were not deleted, so their documents must not be removed. Returns
 * null if there are none. If the location changed, files with the same names are the same files for a watch that only loads new ones (an
 * inbox that was moved); for a watch that replaces documents, all its files are loaded again.
 */
function leftOut(before: WatchMembers, after: WatchMembers): ((name: string) => boolean) | null {
  const { location, pattern = null, options = {} } = after;
  if (!replaces(options) || rowServerOf(location) !== null) return null;
  if (location !== before.location) return () => true;
  const isKnown = pattern === (before.pattern ?? null) && replaces(before.options ?? {});
  const accepts = isKnown ? null : nameTest(pattern);
  return accepts === null ? null : (name) => !accepts(name);
}

export function noWatch(): AppError {
  return new AppError('not_found', 'there is no such watch');
}

/** Returns the members of a record that a person has set. */
function membersOf(record: WatchRecord): WatchMembers {
  return Object.fromEntries(memberNames.map((name) => [name, record[name]])) as unknown as WatchMembers;
}

const memberNames = [
  'name',
  'location',
  'pattern',
  'id_sch',
  'target',
  'options',
  'every',
  'order',
  'settle',
  'on_error',
  'on_drift',
  'max_files',
  'max_bytes',
  'credential',
  'paused',
] as const satisfies readonly (keyof WatchMembers)[];

async function define(
  adapters: WatchAdapters,
  settings: WatchSettings,
  idOrg: number,
  members: WatchMembers,
  isKnown = false,
): Promise<{ readonly definition: WatchDefinition; readonly nextRunMs: number | null }> {
  const { location, target, options = {}, pattern = null, id_sch = null, credential = null } = members;
  const { order, settle, on_error, on_drift, max_files, max_bytes } = { ...watchDefaults, ...given(members) };
  const nameFault = namePart(members.name);
  if (nameFault !== null) throw wrong('/name', nameFault);
  const settleMs = parseDuration(settle);
  if (settleMs === null) throw wrong('/settle', 'must be a duration such as 0s, 30s or 5m');
  const schedule = parseSchedule(members.every);
  if (!isKnown) {
    checkPlace(location, pattern);
    const request = watchRequest(
      { location, target, options, onError: on_error, credential },
      id_sch === null ? [] : [{ pointer: '/id_sch', flag: '-x', value: String(id_sch) }],
    );
    const pointers: Readonly<Record<string, string>> = {
      '--out': '/target',
      '--origin': '/id_sch',
      '--credential': '/credential',
      '--from': '/location',
    };
    const pointerAt = (long: string): string => pointers[long] ?? '/options';
    const all = await checkAccess(adapters, settings, idOrg, request, ['/location'], pointerAt, new Set());
    const faults = withoutEmptyFolder(adapters.files, location, all);
    if (faults.length > 0) throw accessError(faults.map((fault) => located(fault, idOrg, location)));
    await checkOwners(adapters.catalog, idOrg, [request]);
  }
  const kept = { location, target, options };
  return {
    definition: {
      name: members.name,
      pattern,
      id_sch,
      ...shownSecrets(kept),
      sealed: await adapters.secrets.seal(JSON.stringify(kept)),
      every: members.every,
      order,
      settle,
      settleMs,
      on_error,
      on_drift,
      max_files,
      max_bytes,
      credential,
      paused: members.paused ?? false,
    },
    nextRunMs: schedule.first(adapters.clock.nowMs()),
  };
}

/** Adds to the fault of a missing folder the path where it was searched, and advice. */
function located<Fault extends { readonly code: string; readonly pointer: string; readonly detail: string }>(
  fault: Fault,
  idOrg: number,
  location: string,
): Fault {
  if (fault.code !== 'input_not_found' || fault.pointer !== '/location') return fault;
  const make = location.startsWith('/')
    ? 'make it first'
    : /^uploads(?:\/|$)/.test(location)
      ? 'it exists after the first upload of a file (POST /v2/file/upload/xml)'
      : `make it first, as SVC_HOME/files/${idOrg}/${location}, or name one below a folder of svc.files.roots`;
  const detail = `${location}: ${fault.detail}: ${make}`;
  return { ...fault, detail };
}

function given(members: WatchMembers): Partial<typeof watchDefaults> {
  return Object.fromEntries(
    Object.entries(members).filter(([name, value]) => name in watchDefaults && value !== undefined),
  ) as Partial<typeof watchDefaults>;
}

/** AppError names a location that is not possible, and the right form. */
function checkPlace(location: string, pattern: string | null): void {
  if (rowServerOf(location) !== null) {
    if (pattern !== null) throw wrong('/pattern', 'is only for files: select rows by --query in options');
    return;
  }
  if (/^(?:sqlite|duckdb):|\.(?:parquet|[ct]sv(?:\.gz)?)$/i.test(location))
    throw wrong(
      '/location',
      'of rows must be a server, postgresql://… or mysql://…: load files of rows by xml2er --from',
    );
  const isRemote = isRemoteLocation(location);
  const isFile = isRemote && locationOf(location).kind === 'http';
  if (/[*?[]/.test(isFile ? '' : location))
    throw wrong('/location', 'must be a folder or a prefix: give a pattern of names in pattern');
  if (pattern === null) return;
  if (isFile) throw wrong('/pattern', 'an address on the web is one file: omit the pattern');
  try {
    nameTest(pattern);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw wrong('/pattern', error.message);
  }
  if (pattern.startsWith('/') || pattern.split('/').includes('..'))
    throw wrong('/pattern', 'is only for names below the location');
}

/** AppErrors of `parseRemoteLocation`, which say of which member they are. */
function locationOf(location: string): RemoteLocation {
  try {
    return parseRemoteLocation(location);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message } = error;
    throw new AppError(code, message, { errors: [{ pointer: '/location', detail: message }] });
  }
}

function wrong(pointer: string, detail: string): AppError {
  return new AppError('invalid_body', `${pointer.slice(1)} ${detail}`, { errors: [{ pointer, detail }] });
}

// Builds the request of a watch's tool, as a person would write it, with the files of one job.

/** The sealed members of a watch: each of them may hold secrets. */
interface WatchSecrets {
  readonly location: string;
  readonly target: string;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface BatchMembers extends WatchSecrets {
  readonly onError: 'fail' | 'skip';
  readonly credential: string | null;
}

/** Flags that a watch sets itself, with the member that replaces each. */
const decided: Readonly<Record<string, string>> = {
  '--from': 'is set by location',
  '--out': 'is set by target',
  '--origin': 'is set by id_sch',
  '--parent': 'is set by on_drift',
  '--use-stats': 'is set by on_drift',
  '--unmapped': 'is set by on_drift',
  '--on-drift': 'is set by on_drift',
  '--on-error': 'is set by on_error',
  '--credential': 'is set by credential',
  '--skip': 'saves nothing, but a watch loads each file only once',
};

/**
 * The request of a job, `watched` its files; without them, as the watch itself is checked. AppErrors `unknown_option`,
 * `invalid_option`.
 */
export function watchRequest(
  { location, target, options, onError, credential }: BatchMembers,
  more: readonly RequestItem[] = [],
  watched?: WatchedFiles,
): ToolRequest {
  const items: RequestItem[] = [
    { pointer: '/location', flag: rowServerOf(location) === null ? null : '--from', value: location },
    { pointer: '/target', flag: '-o', value: target },
    ...optionItems(options),
    ...(credential === null ? [] : [{ pointer: '/credential', flag: '--credential', value: credential }]),
    ...(onError === 'skip' ? [{ pointer: '/on_error', flag: '--on-error', value: 'skip' }] : []),
    ...more,
  ];
  try {
    const request = parseExecution('xml2er', items, 0);
    checkModes(request);
    checkRows(request);
    return watched === undefined ? request : { ...request, watched };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, error.message, {
      errors: error.errors.map(({ pointer, detail }) => ({
        pointer: pointer.replace(/\/(?:command|value)$/, '').replace(/^\/executions\/0$/, '/options'),
        detail,
      })),
    });
  }
}

function checkModes({ saveMode, parseMode }: ToolRequest): void {
  if (saveMode !== 'append' && saveMode !== 'merge')
    throw refused(
      '-S',
      '-S a (append) and -S m (merge) are allowed for watches: other modes would skip files or remove loaded rows',
    );
  if (parseMode === 'statistics') throw refused('-e', '-e s loads nothing');
}

/** A watch of rows must continue from its mark: otherwise each look would load all rows again. */
function checkRows({ from, after }: ToolRequest): void {
  if (from === undefined) return;
  if (after === undefined)
    throw refused('--after', '--after COLUMN is required: an increasing column that identifies new rows');
  if (after.mark !== undefined)
    throw refused('--after', '--after COLUMN continues from the last row of the watch: omit the value');
}

/** A document takes the place of the one of its key (`-S m`). */
function replaces(options: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(options).some(
    ([flag, value]) => findOption('xml2er', flag, 'rest')?.long === '--savemode' && value === 'm',
  );
}

/** Returns whether the documents of files are removed when the files are gone. */
export function removesGone(options: Readonly<Record<string, unknown>>): boolean {
  return (options['--delete-missing'] ?? false) !== false;
}

function optionItems(options: Readonly<Record<string, unknown>>): RequestItem[] {
  return Object.entries(options).flatMap(([flag, value]): RequestItem[] => {
    const long = findOption('xml2er', flag, 'rest')?.long ?? flag;
    if (Object.hasOwn(decided, long)) throw refused(flag, `${flag} ${decided[long]!}`);
    const pointer = pointerOf(flag);
    const values = Array.isArray(value) ? (value as unknown[]) : [value];
    return values.flatMap((one): RequestItem[] => {
      if (one === false) return [];
      if (one === true || one === '' || one === null) return [{ pointer, flag }];
      if (typeof one === 'string' || typeof one === 'number') return [{ pointer, flag, value: String(one) }];
      throw refused(flag, `${flag} must be a text, a number, true, or a list of these`);
    });
  });
}

function pointerOf(flag: string): string {
  return `/options/${flag.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function refused(flag: string, detail: string): AppError {
  return new AppError('invalid_option', detail, { errors: [{ pointer: pointerOf(flag), detail }] });
}

const mask = '***';

function isPassword(flag: string): boolean {
  return findOption('xml2er', flag, 'rest')?.long === '--out-password';
}

/** Returns the secrets in the form that records show. */
export function shownSecrets({ location, target, options }: Required<WatchSecrets>): Required<WatchSecrets> {
  const passwords = Object.entries(options).flatMap(([flag, value]) =>
    isPassword(flag) && typeof value === 'string' && value.length >= 4 ? [value] : [],
  );
  const maskText = createMask([...secretsOfAddresses([location, target]), ...passwords]);
  return {
    location: maskText(location),
    target: maskText(target),
    options: Object.fromEntries(
      Object.entries(options).map(([flag, value]) => {
        if (isPassword(flag)) return [flag, mask];
        return [flag, typeof value === 'string' ? maskText(value) : shownList(value, maskText)];
      }),
    ),
  };
}

/** A setting of Spark may hold a secret, too. */
function shownList(value: unknown, maskText: (text: string) => string): unknown {
  return Array.isArray(value)
    ? (value as unknown[]).map((one) => (typeof one === 'string' ? maskText(one) : one))
    : value;
}

// Decides which objects of a location a watch accepts.

/**
 * Pattern of names that are not documents: schemas and parts of DTDs, files that are still written, checksums and marks, text, tables
 * and pictures.
 */
const others =
  /\.(?:xsd|wsdl|dtd|ent|mod|cat|tmp|temp|part|partial|filepart|crdownload|swp|bak|lock|md5|sha\d*|asc|sig|done|ok|ready|txt|md|log|jsonl?|csv|tsv|parquet|pdf|png|jpe?g|gif)(?:\.gz)?$|~$/i;

/** Returns a test for names below the location, '/'-separated. AppError `invalid_option` if the pattern is invalid. */
export function nameTest(pattern: string | null): (name: string) => boolean {
  // the job determines the type of any other file by its content
  if (pattern === null) return (name) => !others.test(name) && !isHidden(name);
  const parsed = parsePathPattern(pattern);
  // a name without a wildcard is that one file
  if (parsed === null) return (name) => name === pattern;
  const above = parsed.folder === '.' ? '' : `${parsed.folder}/`;
  return (name) =>
    name.startsWith(above) && matchedLength(parsed, name.slice(above.length)) === name.length - above.length;
}

function isHidden(name: string): boolean {
  return name.startsWith('.') || name.includes('/.');
}

/** Names of objects that no file could have, which a disk must take before they are loaded. */
export function isPlainName(name: string): boolean {
  return name
    .split('/')
    .every(
      (part) =>
        part !== '' &&
        part !== '.' &&
        part !== '..' &&
        !part.includes('\0') &&
        new TextEncoder().encode(part).byteLength <= 255,
    );
}

/** Returns the name that a `.gz` file has after unpacking. */
export function nameWithoutGz(name: string): string {
  return name.replace(/\.gz$/i, '');
}

/**
 * Whether a document, by its name in `_documents`, is one of these files, a part of one (`--row-tag`), or a member of an archive among
 * them.
 */
export function documentsOf(files: Iterable<string>): (document: string) => boolean {
  const names = new Set<string>();
  for (const file of files) names.add(file).add(nameWithoutGz(file));
  return (document) => {
    if (names.has(document) || names.has(document.replace(/(?:#\d+)+$/, ''))) return true;
    for (let at = document.indexOf('/'); at >= 0; at = document.indexOf('/', at + 1))
      if (names.has(document.slice(0, at))) return true;
    return false;
  };
}

// The place that schedulers search, as a watch stores it.

/** Opens a place with the secrets of the watch: for schedulers alone. AppErrors of `watchRequest`. */
export async function openPlace(
  secrets: SecretBox,
  { watch, idOrg, sealed }: WatchClaim,
): Promise<WatchedPlace & { readonly kept: WatchSecrets }> {
  const { pattern, credential, id_watch: id, on_error: onError } = watch;
  const kept = JSON.parse(await secrets.open(sealed)) as WatchSecrets;
  const { location } = kept;
  const isRows = rowServerOf(location) !== null;
  const watched = { files: [], watch: id };
  const rows = isRows ? watchRequest({ ...kept, onError, credential }, [], watched) : null;
  return { idOrg, location, pattern, credential, rows, kept };
}

/** Returns the faults of a watch's request, except that its folder is empty now: a store has no other sign of a folder. */
export function withoutEmptyFolder(
  { local }: Pick<FileStore, 'local'>,
  location: string,
  faults: readonly AccessFault[],
): readonly AccessFault[] {
  if (local || location.startsWith('/')) return faults;
  return faults.filter(({ pointer, code }) => pointer !== '/location' || code !== 'input_not_found');
}
