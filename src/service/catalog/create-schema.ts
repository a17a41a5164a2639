/** A new origin from uploaded XSD files and documents, with its first logical schema. */
import type { MapLevel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import { isRemoteLocation } from '../files/remote-location.ts';
import { addressFault, namedCredential, type AccessSettings } from '../jobs/request/check-access.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { FileStore } from '../../ports/files.ts';
import type { CachedSet, OriginRecord, TableRecord } from '../../ports/stores/catalog.ts';
import { findOrigin } from './logical-schema.ts';

export interface NewSchema {
  readonly name: string;
  /** paths as uploads returned them, or addresses; at least one of both kinds together */
  readonly xsd: readonly string[];
  readonly xml: readonly string[];
  /** name of the credential for remote addresses; absent: sources of the operator */
  readonly credential?: string;
  readonly root?: string;
  readonly mapLevel?: MapLevel;
  /** bytes */
  readonly nameMaxLength?: number;
  /** characters */
  readonly defaultTextLength?: number;
  readonly idParentSch?: number;
}

/** `Schema` as it goes over the wire (docs/decisions/service/catalogue.md). */
export type SchemaRecord = OriginRecord & { readonly tables: readonly TableRecord[] };

const defaultMapLevel = 3;

/**
 * AppError `unprocessable_input` with located reasons if the sources make no schema; `conflict` for a name that is in use; `not_found`
 * for the parent; `path_not_allowed`, `input_not_found` for paths; for addresses also `invalid_option`, `host_not_allowed`,
 * `service_unavailable`.
 */
export async function createSchema(
  adapters: Pick<Adapters, 'catalog' | 'files' | 'compiler' | 'credentials' | 'secrets'>,
  settings: AccessSettings,
  idOrg: number,
  wanted: NewSchema,
): Promise<SchemaRecord> {
  const { catalog, files, compiler } = adapters;
  await checkAddresses(adapters, settings, idOrg, wanted);
  const { idParentSch } = wanted;
  const parent = idParentSch === undefined ? null : await findOrigin(catalog, idOrg, idParentSch);
  await refuseTakenName(adapters, idOrg, wanted.name, parent);
  const before = parent === null ? null : await catalog.loadLogicalSchema(idOrg, { idSch: parent.id_sch });
  const mapLevel = wanted.mapLevel ?? before?.model.mapLevel ?? defaultMapLevel;
  const keepNames = before?.model.mapLevel === mapLevel && wanted.nameMaxLength === undefined;
  const resolve = (kind: 'xsd' | 'xml'): Promise<string[]> =>
    Promise.all(
      wanted[kind].map(async (path, at) =>
        isRemoteLocation(path) ? path : files.resolve(idOrg, path, true).catch(pointingTo(`/${kind}/${at}`)),
      ),
    );
  let known: CachedSet | null = null;
  const find = async (fingerprint: string): Promise<CachedSet | null> =>
    (known = await catalog.findCompiledSet(idOrg, fingerprint));
  const sources = {
    idOrg,
    xsd: await resolve('xsd'),
    xml: await resolve('xml'),
    ...(wanted.credential === undefined ? {} : { credential: wanted.credential }),
    ...(wanted.root === undefined ? {} : { root: wanted.root }),
    mapLevel,
    ...(wanted.nameMaxLength === undefined ? {} : { nameMaxLength: wanted.nameMaxLength }),
    ...(wanted.defaultTextLength === undefined ? {} : { defaultTextLength: wanted.defaultTextLength }),
    ...(before === null ? {} : { previous: before.model, keepNames }),
  };
  const compiled = await compiler.compile(sources, find, (path) => locate(files, idOrg, path));
  const { id_sch: idSch } = await catalog.createOrigin({
    idOrg,
    idParentSch: idParentSch ?? null,
    idJob: null,
    name: wanted.name,
    sourceType: wanted.xsd.length === 0 ? 'xml' : wanted.xml.length === 0 ? 'xsd' : 'xsd+xml',
    model: compiled.source,
    files: compiled.files,
  });
  const { statistics } = compiled;
  if (statistics !== null) await catalog.saveStatistics(idOrg, idSch, null, statistics, () => statistics);
  const { idLschma } = await catalog.createLogicalSchema(idOrg, idSch, compiled.model, null);
  if (compiled.fingerprint !== null && known === null)
    await catalog.rememberCompiledSet(idOrg, compiled.fingerprint, idLschma, compiled.diagnostics);
  const [record, tables] = await Promise.all([
    findOrigin(catalog, idOrg, idSch),
    catalog.listTables(idOrg, idLschma),
  ]);
  return { ...record, tables };
}

const faultsOfPaths: ReadonlySet<string> = new Set(['path_not_allowed', 'input_not_found', 'invalid_option']);

async function locate(files: FileStore, idOrg: number, path: string): Promise<string | null> {
  try {
    return files.local ? await files.resolve(idOrg, path, true) : null;
  } catch (error) {
    if (error instanceof AppError && faultsOfPaths.has(error.code)) return null;
    throw error;
  }
}

/** Says of a fault which member of the request it is about. */
function pointingTo(pointer: string): (fault: unknown) => never {
  return (fault) => {
    if (!(fault instanceof AppError) || fault.errors.length > 0) throw fault;
    const { code, message: detail, headers } = fault;
    throw new AppError(code, detail, { errors: [{ pointer, detail }], headers, cause: fault });
  };
}

/** Checks the addresses as far as possible without sending requests to them. */
async function checkAddresses(
  adapters: Pick<Adapters, 'credentials' | 'secrets'>,
  settings: AccessSettings,
  idOrg: number,
  wanted: NewSchema,
): Promise<void> {
  const credential = await namedCredential(adapters, settings, idOrg, wanted);
  if (credential === 'unknown')
    throw new AppError('invalid_option', `there is no credential ${wanted.credential!}`, {
      errors: [{ pointer: '/credential', detail: 'is not the name of a credential' }],
    });
  for (const kind of ['xsd', 'xml'] as const)
    for (const [at, text] of wanted[kind].entries()) {
      const fault = isRemoteLocation(text) ? addressFault(settings, idOrg, text, credential) : null;
      if (fault !== null)
        throw new AppError(fault.code, fault.detail, {
          errors: [{ pointer: `/${kind}/${at}`, detail: fault.detail }],
        });
    }
}

/** The store refuses it too; here it costs no compiling. */
async function refuseTakenName(
  { catalog }: Pick<Adapters, 'catalog'>,
  idOrg: number,
  name: string,
  parent: OriginRecord | null,
): Promise<void> {
  const others = (await catalog.listOrigins(idOrg)).filter((origin) => origin.name === name);
  if (others.length > 0 && parent === null) {
    const detail = `a schema called ${JSON.stringify(name)} already exists: name it as id_parent_sch to make its next version`;
    throw new AppError('conflict', detail, { errors: [{ pointer: '/name', detail: 'is taken' }] });
  }
}
