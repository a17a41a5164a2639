/** POST and PATCH of a watch: the request becomes a definition after all of it has been checked. */
import { AppError } from '../errors.ts';
import { isRemoteLocation, parseRemoteLocation, type RemoteLocation } from '../files/remote-location.ts';
import { checkAccess, type AccessSettings } from '../jobs/request/check-access.ts';
import { accessError, checkOwners, requireCommands } from '../jobs/submit.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { ObjectOrder, OnDrift, WatchDefinition, WatchRecord } from '../ports/stores/watches.ts';
import { namePart } from '../jobs/options/name-part.ts';
import { nameTest } from './names.ts';
import { withoutEmptyFolder } from './place.ts';
import { rowServerOf } from './row-server.ts';
import { replaces, shownSecrets, watchRequest, type WatchSecrets } from './request.ts';
import { parseDuration, parseSchedule } from './schedule.ts';

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

export type WatchChange = { readonly [Member in keyof WatchMembers]?: WatchMembers[Member] | undefined };

export const watchDefaults: Required<
  Pick<WatchDefinition, 'order' | 'settle' | 'on_error' | 'on_drift' | 'max_files' | 'max_bytes'>
> = {
  order: 'name',
  settle: '30s',
  on_error: 'fail',
  on_drift: 'evolve',
  max_files: 1000,
  max_bytes: 1024 ** 3,
};

export type WatchAdapters = Pick<
  Adapters,
  'watches' | 'catalog' | 'files' | 'secrets' | 'credentials' | 'clock'
>;
export type WatchSettings = AccessSettings & {
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
 * Returns a test for files that a change leaves out: they are not gone, and their documents must not be removed. Returns null if there
 * are none. After a change of place, files count as the same if only new ones are loaded, as for an inbox that was moved; if documents
 * are replaced, they may be read once more.
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
      ? 'it is there once a file is uploaded (POST /v2/file/upload/xml)'
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
    if (pattern !== null)
      throw wrong('/pattern', 'is of files: which rows are taken, --query in options says');
    return;
  }
  if (/^(?:sqlite|duckdb):|\.(?:parquet|[ct]sv(?:\.gz)?)$/i.test(location))
    throw wrong(
      '/location',
      'of rows is a server, postgresql://… or mysql://…: files of rows are loaded by xml2er --from, as often as it is run',
    );
  const isRemote = isRemoteLocation(location);
  const isFile = isRemote && locationOf(location).kind === 'http';
  if (/[*?[]/.test(isFile ? '' : location))
    throw wrong('/location', 'is a folder or a prefix: what names below it look like is for pattern');
  if (pattern === null) return;
  if (isFile) throw wrong('/pattern', 'an address on the web is one file: leave the pattern out');
  try {
    nameTest(pattern);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw wrong('/pattern', error.message);
  }
  if (pattern.startsWith('/') || pattern.split('/').includes('..'))
    throw wrong('/pattern', 'is of names below the location');
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
