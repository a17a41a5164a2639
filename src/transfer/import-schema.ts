/** POST /v2/schema/import: stores the content of a package under new ids. */
import { createOutgoingGuard } from '../access/outgoing-guard.ts';
import { checkLocation } from './cloud-location.ts';
import { atMember } from './export-schema.ts';
import { chooseDatabase, type MetadbFields } from './metadata-database.ts';
import {
  requireProgram,
  runTransfer,
  type TransferAdapters,
  type TransferCaller,
  type TransferSettings,
} from './run-transfer.ts';

/** With `az_input_path`, `input_path` is the folder that the package is copied to first; without, the folder that contains it. */
export interface ImportRequest extends MetadbFields {
  readonly input_path: string;
  readonly az_input_path?: string;
}

export interface ImportResponse {
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
