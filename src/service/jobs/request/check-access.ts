/** Checks if an organisation may use the files, targets, hosts and origins of a request. */
import type { SourceConfig } from '../../../config/shape.ts';
import { AppError, type ErrorCode, type ErrorDetail } from '../../../errors.ts';
import { credentialMisfit, type Credential, findCredential, noCredential } from '../../files/credentials.ts';
import {
  isRemoteLocation,
  parseRemoteLocation,
  sourceAt,
  addressOfLocation,
  openSources,
} from '../../files/remote-location.ts';
import { type Target, isHostAllowed, isReservedSqlSchema, parseTarget, registeredTarget } from './target.ts';
import type { ToolRequest } from './tool-request.ts';
import { parsePathPattern } from '../../files/path-pattern.ts';
import type { Adapters } from '../../../ports/adapters.ts';
import type { FileStore } from '../../../ports/files.ts';
import { nothingEarlier, type EarlierOutputs, type ReadAs } from './execution-request.ts';
import { rowSourceOf } from './row-source.ts';
import { knownOrigins, logicalNamed, originNamed } from '../../catalog/named.ts';
import { isXsdName, takesXsdDocuments, xsdIsNoDocument } from '../xsd-inputs.ts';

// The login for a catalogue of Iceberg tables: from the request, from the credential that `--credential` names, or from a source of the
// operator.

export interface CatalogueAccess {
  /** a token, or the secret of `user`; null: nothing */
  readonly secret: string | null;
  /** a client's name; null: `secret` is a token */
  readonly user: string | null;
  /** party that named the host */
  readonly by: 'operator' | 'request';
}

/**
 * `idOrg`: null for a person, whom the organisations of a source do not restrict. AppErrors: `invalid_option` for a credential of
 * another place and for a user without a secret, `target_not_allowed` if the operator's source is read-only.
 */
export function catalogueLogin(
  sources: readonly SourceConfig[],
  idOrg: number | null,
  { outUser, outPassword, inputs, xsd = [] }: Pick<ToolRequest, 'outUser' | 'outPassword' | 'inputs' | 'xsd'>,
  { address }: Extract<Target, { kind: 'iceberg' }>,
  credential: Credential | null,
  isWritten: boolean,
): CatalogueAccess {
  const source = sourceAt(sources, address, idOrg);
  const isOperators =
    source?.access.kind === 'https' && (!isWritten || idOrg === null || source.writable === true);
  if (outPassword !== undefined)
    return { secret: outPassword, user: outUser ?? null, by: isOperators ? 'operator' : 'request' };
  if (outUser !== undefined)
    throw new AppError(
      'invalid_option',
      '-u: a catalogue needs -u CLIENT with -p SECRET, or only -p TOKEN; give -p, too',
    );
  if (credential !== null) {
    const misfit = credentialMisfit(credential, parseRemoteLocation(address));
    if (misfit === null) return { ...secretOf(credential.access), by: credential.by };
    // then it is for the inputs
    if (![...inputs, ...xsd].some(isRemoteLocation)) throw new AppError('invalid_option', misfit);
  }
  if (source?.access.kind !== 'https') return { secret: null, user: null, by: 'request' };
  if (!isOperators)
    throw new AppError(
      'target_not_allowed',
      `${address}: jobs may read but not write there: let the operator set svc.sources.NAME.writable=true, or give your own token with -p`,
    );
  return { ...secretOf(source.access), by: 'operator' };
}

function secretOf(access: Credential['access']): Pick<CatalogueAccess, 'secret' | 'user'> {
  if (access.kind !== 'https') return { secret: null, user: null };
  return access.token === null
    ? { secret: access.password, user: access.user }
    : { secret: access.token, user: null };
}

// The checks.

export interface AccessFault extends ErrorDetail {
  readonly code: ErrorCode;
}

interface Fault {
  readonly code: ErrorCode;
  readonly detail: string;
}

export interface AccessSettings {
  readonly allowedHosts: readonly string[];
  /** an external metadata database may be a target too; null: the embedded one, reached as `metadb:NAME` only */
  readonly metadbUrl: string | null;
  /** places from which inputs are fetched, and which may hold targets; absent: none */
  readonly sources?: readonly SourceConfig[] | undefined;
}

/**
 * `pointerOf` returns the place of an option's value in the request, `at` the index among several; `inputPointers` those of the inputs.
 * `made`: names of origins that are made before this request runs; `earlier`: outputs that are written before it does.
 */
export async function checkAccess(
  adapters: Pick<Adapters, 'files' | 'catalog' | 'credentials' | 'secrets'>,
  settings: AccessSettings,
  idOrg: number,
  request: ToolRequest,
  inputPointers: readonly string[],
  pointerOf: (long: string, at?: number) => string,
  ownNames: ReadonlySet<string>,
  earlier: EarlierOutputs = nothingEarlier,
): Promise<AccessFault[]> {
  const faults: AccessFault[] = [];
  const named = await namedCredential(adapters, settings, idOrg, request);
  if (named === 'unknown')
    faults.push({
      pointer: pointerOf('--credential'),
      code: 'invalid_option',
      detail: noCredential(request.credential!).message,
    });
  const path = async (
    pointer: string,
    name: string,
    mustExist: boolean,
    as: ReadAs | null = null,
  ): Promise<void> => {
    if (mustExist && isRemoteLocation(name)) {
      const fault = named === 'unknown' ? null : addressFault(settings, idOrg, name, named);
      if (fault !== null) faults.push({ pointer, ...fault });
      return;
    }
    const fault = await pathFault(adapters.files, idOrg, name, mustExist);
    if (fault?.code === 'input_not_found' && as !== null && (await earlier.makes(name, as))) return;
    if (fault !== null) faults.push({ pointer, ...fault });
  };

  for (const [at, input] of request.inputs.entries()) {
    const pointer = inputPointers[at] ?? '';
    if (input === '-')
      faults.push({ pointer, code: 'path_not_allowed', detail: 'a job has no standard input' });
    else await path(pointer, input, true, 'documents');
  }
  if (request.from !== undefined) {
    const pointer = pointerOf('--from');
    const fault = await rowsFault(settings, request.from, (file, as) => path(pointer, file, true, as));
    if (fault !== null) faults.push({ pointer, ...fault });
  }
  for (const [at, set] of (request.xsd ?? []).entries()) await path(pointerOf('--xsd', at), set, true);
  const schemas =
    request.tool === 'xml2er' ? [...request.inputs.entries()].filter(([, name]) => isXsdName(name)) : [];
  // beside documents they are the schema, if no option names one
  const isSchema = schemas.length < request.inputs.length && !namesSchema(request);
  if (
    schemas.length > 0 &&
    !isSchema &&
    (await takesXsdDocuments(adapters.catalog, idOrg, request)) === false
  )
    for (const [at, input] of schemas)
      faults.push({
        pointer: inputPointers[at] ?? '',
        code: 'invalid_option',
        detail: xsdIsNoDocument(input),
      });
  /** `file`: called with a path, which has faults of its own. */
  const targetFault = async (
    target: ReturnType<typeof parseTarget>,
    isWritten: boolean,
    file: (path: string, as: ReadAs) => Promise<void>,
  ): Promise<Fault | null> => {
    if ('fault' in target) return { code: 'target_not_allowed', detail: target.fault };
    switch (target.kind) {
      case 'metadb':
        return null;
      case 'postgresql':
      case 'mysql': {
        const fault = hostFault(settings, target);
        if (fault !== null || target.user !== null || request.outUser !== undefined) return fault;
        // otherwise it would be the user that the service runs as
        return { code: 'target_not_allowed', detail: 'names no user: give one with -u' };
      }
      case 'bucket':
        return bucketFault(settings.sources ?? [], idOrg, target.location, isWritten);
      case 'iceberg':
        return named === 'unknown'
          ? null
          : catalogueFault(settings, idOrg, request, target, named, isWritten);
      case 'folder':
        await file(target.path, 'folder');
        return null;
      case 'duckdb':
      case 'sqlite':
        await file(target.file, target.kind);
        return null;
      case 'registered': {
        const detail = registeredTarget(target.scheme)?.check?.(target.text, idOrg) ?? null;
        return detail === null ? null : { code: 'target_not_allowed', detail };
      }
    }
  };
  for (const [member, long] of [
    ['out', '--out'],
    ['in', '--in'],
  ] as const) {
    const text = request[member];
    if (text === undefined) continue;
    const pointer = pointerOf(long);
    const target = parseTarget(text);
    const isWritten = member === 'out' || request.tool === 'unload';
    const fault = await targetFault(target, isWritten, (name, as) =>
      path(pointer, name, member === 'in', as),
    );
    if (fault !== null) faults.push({ pointer, ...fault });
  }
  const origins = [
    {
      long: '--origin',
      id: request.originId !== undefined && 'id' in request.originId ? request.originId.id : undefined,
    },
    { long: '--parent', id: request.parent },
  ];
  const { catalog } = adapters;
  for (const { long, id } of origins) {
    if (id === undefined || (await catalog.findOrigin(idOrg, id)) !== null) continue;
    const detail = `there is no origin ${id}${await knownOrigins(catalog, idOrg)}`;
    faults.push({ pointer: pointerOf(long), code: 'invalid_option', detail });
  }
  const { originId, logicalName } = request;
  const name = originId !== undefined && 'name' in originId ? originId.name : logicalName;
  if (name !== undefined && !ownNames.has(name)) {
    const long = logicalName === undefined ? '--origin' : '--logical';
    const detail = await nameFault(() =>
      (logicalName === undefined ? originNamed : logicalNamed)(catalog, idOrg, name),
    );
    if (detail !== null) faults.push({ pointer: pointerOf(long), code: 'invalid_option', detail });
  }
  return faults;
}

/**
 * Checks that rows are read as the user that the request names; the metadata database is a host like any other. `file`: called with a
 * file to be checked.
 */
async function rowsFault(
  { allowedHosts }: AccessSettings,
  from: string,
  file: (path: string, as: ReadAs) => Promise<void>,
): Promise<Fault | null> {
  const source = rowSourceOf(from);
  if ('fault' in source) return { code: 'invalid_option', detail: source.fault };
  if (source.kind === 'file') await file(source.path, 'rows');
  else if (source.kind === 'duckdb' || source.kind === 'sqlite') await file(source.file, source.kind);
  else {
    const fault = hostFault({ allowedHosts, metadbUrl: null }, source);
    if (fault !== null) return fault;
    if (source.user === null)
      return {
        code: 'invalid_option',
        detail: `names no user: write ${source.kind}://USER:PASSWORD@HOST/…, which is stored sealed`,
      };
  }
  return null;
}

function namesSchema({ originId, logicalId, logicalName, xsd }: ToolRequest): boolean {
  const isAuto = originId !== undefined && 'auto' in originId;
  return (originId !== undefined && !isAuto) || (logicalId ?? logicalName ?? xsd) !== undefined;
}

async function nameFault(find: () => Promise<unknown>): Promise<string | null> {
  try {
    await find();
    return null;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'conflict'))
      return error.message;
    throw error;
  }
}

const faultsOfPaths: ReadonlySet<ErrorCode> = new Set([
  'path_not_allowed',
  'input_not_found',
  'invalid_option',
]);

async function pathFault(
  files: FileStore,
  idOrg: number,
  path: string,
  mustExist: boolean,
): Promise<Fault | null> {
  try {
    await files.resolve(idOrg, path, mustExist).catch(async (error: unknown) => {
      const isAbsent = error instanceof AppError && error.code === 'input_not_found';
      const pattern = isAbsent ? parsePathPattern(path) : null;
      if (pattern === null) throw error;
      await files.resolve(idOrg, pattern.folder, true);
    });
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || !faultsOfPaths.has(error.code)) throw error;
    return { code: error.code, detail: error.message };
  }
}

/** Returns the credential that `--credential` names, or null without the option. */
export async function namedCredential(
  adapters: Pick<Adapters, 'credentials' | 'secrets'>,
  { sources = [] }: AccessSettings,
  idOrg: number,
  { credential: name }: Pick<ToolRequest, 'credential'>,
): Promise<Credential | 'unknown' | null> {
  if (name === undefined) return null;
  return (await findCredential(adapters, openSources(sources, idOrg), idOrg, name)) ?? 'unknown';
}

/** Returns the reason why the organisation's jobs may not fetch the location, as far as it is known without a request to it. */
export function addressFault(
  { allowedHosts, sources = [] }: AccessSettings,
  idOrg: number,
  text: string,
  credential: Credential | null,
): Fault | null {
  try {
    const location = parseRemoteLocation(text);
    const misfit = credential === null ? null : credentialMisfit(credential, location);
    if (misfit !== null) return { code: 'invalid_option', detail: misfit };
    const isOperators =
      credential === null ? sourceAt(sources, text, idOrg) !== undefined : credential.by === 'operator';
    if (isOperators) return null;
    const address = addressOfLocation(location, credential?.access ?? null);
    if (address === null)
      return {
        code: 'path_not_allowed',
        detail: `${text}: the operator has set no source for it (svc.sources.NAME.location), and --credential names none`,
      };
    const { hostname, port, protocol } = address;
    const number = Number(port || (protocol === 'https:' ? 443 : 80));
    if (isHostAllowed(allowedHosts, hostname, number)) return null;
    return {
      code: 'host_not_allowed',
      detail: `jobs may not reach ${hostname}:${number}: the property svc.allow.hosts lists the allowed hosts`,
    };
  } catch (error) {
    if (!(error instanceof AppError) || !faultsOfPaths.has(error.code)) throw error;
    return { code: error.code, detail: error.message };
  }
}

/** Checks that a target in a bucket is in a source of the operator, who decides whether jobs may write there. */
function bucketFault(
  sources: readonly SourceConfig[],
  idOrg: number,
  location: string,
  isWritten: boolean,
): Fault | null {
  const source = sourceAt(sources, location, idOrg);
  if (source === undefined)
    return {
      code: 'target_not_allowed',
      detail: `${location}: the operator has set no source for it (svc.sources.NAME.location)`,
    };
  if (!isWritten || source.writable === true) return null;
  return {
    code: 'target_not_allowed',
    detail: `${location}: jobs may read but not write there: let the operator set svc.sources.NAME.writable=true`,
  };
}

/** Returns the reason why jobs may not use a catalogue, as far as it is known without a request to it. */
function catalogueFault(
  settings: AccessSettings,
  idOrg: number,
  request: ToolRequest,
  target: Extract<Target, { kind: 'iceberg' }>,
  credential: Credential | null,
  isWritten: boolean,
): Fault | null {
  try {
    const login = catalogueLogin(settings.sources ?? [], idOrg, request, target, credential, isWritten);
    return login.by === 'operator' ? null : hostFault(settings, target);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, detail: error.message };
  }
}

function hostFault(
  settings: AccessSettings,
  target: { readonly host: string; readonly port: number; readonly sqlSchema?: string },
): Fault | null {
  // another kind of server is never the metadata database, whatever its address
  if (target.sqlSchema !== undefined && isMetadataDatabase(settings.metadbUrl, target)) {
    return isReservedSqlSchema(target.sqlSchema)
      ? {
          code: 'target_not_allowed',
          detail: `the SQL schema ${target.sqlSchema} of the metadata database is reserved`,
        }
      : null;
  }
  if (isHostAllowed(settings.allowedHosts, target.host, target.port)) return null;
  return {
    code: 'host_not_allowed',
    detail: `jobs may not reach ${target.host}:${target.port}: the property svc.allow.hosts lists the allowed hosts`,
  };
}

/** Whether a database target is the metadata database by its address, which jobs may reach without being allowed to. */
export function isMetadataDatabase(
  metadbUrl: string | null,
  target: { readonly host: string; readonly port: number },
): boolean {
  if (metadbUrl === null || !URL.canParse(metadbUrl)) return false;
  const own = new URL(metadbUrl);
  return own.hostname.toLowerCase() === target.host && Number(own.port || 5432) === target.port;
}
