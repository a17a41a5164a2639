/** Formats a run of the transfer program for its job record: as requested, with secrets masked. */
import { shownParams } from '../jobs/request/params.ts';
import { shellWord } from '../jobs/request/shell-word.ts';
import { engineDefaults } from '../jobs/new-job.ts';
import type { TransferCommand } from '../ports/processes/transfer-program.ts';
import type { MetadbFields } from './metadata-database.ts';

/** Members of either request; absent and '' say nothing. */
export interface AskedTransfer extends MetadbFields {
  readonly origin_id?: string;
  readonly output_path?: string;
  readonly az_output_path?: string;
  readonly input_path?: string;
  readonly az_input_path?: string;
}

export interface ShownTransfer {
  /** the words that follow `migrate` in a shell */
  readonly params: string;
  readonly paramsJson: string;
  readonly inputPath: string | null;
  readonly outputPath: string | null;
}

const members = [
  'origin_id',
  'output_path',
  'az_output_path',
  'input_path',
  'az_input_path',
  'metadb_host',
  'metadb_port',
  'metadb_user',
  'metadb_db',
  'metadb_password',
] as const satisfies readonly (keyof AskedTransfer)[];

/** `params_json.action` has the members as given, and `in` and `out` as every job has them. `mask` knows the secrets of the run. */
export function shownTransfer(
  command: TransferCommand,
  asked: AskedTransfer,
  mask: (text: string) => string,
): ShownTransfer {
  const inputPath = withoutQuery(asked.az_input_path) ?? (asked.input_path || null);
  const outputPath = withoutQuery(asked.az_output_path) ?? (asked.output_path || null);
  const given = members.flatMap((name) =>
    asked[name] ? [[name, mask(shownMember(name, asked[name]))] as const] : [],
  );
  const action = {
    command,
    ...(inputPath === null ? {} : { in: inputPath }),
    ...(outputPath === null ? {} : { out: outputPath }),
    ...Object.fromEntries(given),
  };
  const words = given.flatMap(([name, value]) => [flags[name] ?? `--${name.replaceAll('_', '-')}`, value]);
  return {
    params: [command, ...words].map(shellWord).join(' '),
    paramsJson: shownParams(action, engineDefaults),
    inputPath,
    outputPath,
  };
}

const flags: Readonly<Record<string, string>> = { origin_id: '-x', output_path: '-o', input_path: '-i' };

/** Removes the query of an address, because it is the access token. */
function withoutQuery(location: string | undefined): string | null {
  return location ? (location.split('?')[0] ?? null) : null;
}

function shownMember(name: (typeof members)[number], value: string): string {
  if (name === 'metadb_password') return '***';
  return name.startsWith('az_') ? `${withoutQuery(value)}?***` : value;
}
