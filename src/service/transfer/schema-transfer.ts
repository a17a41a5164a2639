/** Exports and imports schemas as packages, in a folder or in cloud storage. */
import { createOutgoingGuard } from '../access/outgoing-guard.ts';
import { AppError } from '../../errors.ts';
import { checkLocation } from './cloud-location.ts';
import { chooseDatabase, type MetadbFields } from './metadata-database.ts';
import {
  requireProgram,
  runTransfer,
  type TransferAdapters,
  type TransferCaller,
  type TransferSettings,
} from './run-transfer.ts';

// POST /v2/schema/export: a schema with everything that belongs to it.

/** Exactly one of the two paths is there. */
interface ExportRequest extends MetadbFields {
  readonly origin_id: string;
  readonly output_path?: string;
  readonly az_output_path?: string;
}

interface ExportResponse {
  readonly error: boolean;
  /** the location without its query; '' for a local export */
  readonly az_output_path: string;
}

/** AppError `not_found`, `path_not_allowed`, `host_not_allowed`, `invalid_body` before anything is started. */
export async function exportSchema(
  adapters: TransferAdapters,
  settings: TransferSettings,
  caller: TransferCaller,
  asked: ExportRequest,
): Promise<ExportResponse> {
  const { files, catalog } = adapters;
  const transfers = requireProgram(adapters);
  const idSch = Number(asked.origin_id);
  const absent = new AppError('not_found', `there is no schema ${asked.origin_id}`);
  const guard = createOutgoingGuard(settings.allowedHosts, adapters.hosts);
  const cloud = asked.az_output_path
    ? await checkLocation(asked.az_output_path, '/az_output_path', guard)
    : null;
  const folder =
    cloud === null
      ? await files.resolve(caller.idOrg, asked.output_path!, false).catch(atMember('/output_path'))
      : null;
  const database = await chooseDatabase(asked, caller.idOrg, transfers, guard, settings);
  if (database.own && (await catalog.findOrigin(caller.idOrg, idSch)) === null) throw absent;

  const { code, answer } = await runTransfer(adapters, settings, caller, {
    command: 'export',
    request: {
      origin_id: asked.origin_id,
      id_org: caller.idOrg,
      ...(folder === null ? {} : { output_path: folder }),
      ...(cloud === null ? {} : cloud.fields('az_output_path')),
      ...(cloud === null ? {} : { azcopy_binary: settings.migration.azcopyBinary }),
      ...database.fields,
    },
    secrets: [...database.secrets, ...(cloud?.location.secrets ?? [])],
    ownDatabase: database.own,
    asked,
    idSch: database.own ? idSch : null,
  });
  if (code === 'not_found') throw absent;
  return { error: answer === null, az_output_path: cloud?.location.shown ?? '' };
}

/** Adds to the fault of a path the place of the path in the request. */
function atMember(pointer: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof AppError) || error.errors.length > 0) throw error;
    throw new AppError(error.code, error.message, {
      errors: [{ pointer, detail: error.message }],
      cause: error,
    });
  };
}

// POST /v2/schema/import: stores the content of a package under new ids.

/** With `az_input_path`, `input_path` is the folder that the package is copied to first; without, the folder that contains it. */
interface ImportRequest extends MetadbFields {
  readonly input_path: string;
  readonly az_input_path?: string;
}

interface ImportResponse {
  readonly error: boolean;
  /** joined by comma and space, oldest version first; '' on error */
  readonly origin_ids: string;
}

/** AppError `path_not_allowed`, `input_not_found`, `host_not_allowed`, `invalid_body` before anything is started. */
export async function importSchema(
  adapters: TransferAdapters,
  settings: TransferSettings,
  caller: TransferCaller,
  asked: ImportRequest,
): Promise<ImportResponse> {
  const { files } = adapters;
  const transfers = requireProgram(adapters);
  const guard = createOutgoingGuard(settings.allowedHosts, adapters.hosts);
  const cloud = asked.az_input_path
    ? await checkLocation(asked.az_input_path, '/az_input_path', guard)
    : null;
  const folder = await files
    .resolve(caller.idOrg, asked.input_path, cloud === null)
    .catch(atMember('/input_path'));
  const database = await chooseDatabase(asked, caller.idOrg, transfers, guard, settings);

  const { answer } = await runTransfer(adapters, settings, caller, {
    command: 'import',
    request: {
      input_path: folder,
      id_org: caller.idOrg,
      ...(cloud === null ? {} : cloud.fields('az_input_path')),
      ...(cloud === null ? {} : { azcopy_binary: settings.migration.azcopyBinary }),
      ...database.fields,
    },
    secrets: [...database.secrets, ...(cloud?.location.secrets ?? [])],
    ownDatabase: database.own,
    asked,
    idSch: null,
  });
  const ids = answer?.['origin_ids'];
  const known = typeof ids === 'string' && /^\d{1,19}(?:, \d{1,19})*$/.test(ids);
  return known ? { error: false, origin_ids: ids } : { error: true, origin_ids: '' };
}
