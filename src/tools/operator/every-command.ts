/** The commands of `conversion-job-service`, beside the service itself, its worker, and the tools that are commands of it. */
import { accessCommands } from './access.ts';
import { credentialCommands } from './credentials.ts';
import { jobCommands } from './jobs.ts';
import { schemaCommands } from './schemas.ts';
import type { Command, OptionName } from './specification.ts';
import { tableCommands } from './tables.ts';
import { watchCommands } from './watches.ts';

export const commands: Readonly<Record<string, Command>> = {
  ...jobCommands,
  ...schemaCommands,
  ...watchCommands,
  ...accessCommands,
  ...credentialCommands,
  ...tableCommands,
};

/** The value names of options in usage texts; '' for an option without a value. */
export const optionValues: Readonly<Record<OptionName, string>> = {
  name: 'NAME',
  scopes: 'SCOPE,…',
  org: 'ID',
  expires: '90d|2027-01-31',
  description: 'TEXT',
  page: 'N',
  size: 'N',
  dialect: 'NAME',
  codes: 'none|table|check',
  logical: 'ID',
  as: 'FORMAT',
  out: 'FILE',
  follow: '',
  every: '5m|CRON',
  pattern: 'PATTERN',
  schema: 'ID',
  options: 'JSON',
  order: 'name|modified',
  settle: '30s',
  'on-error': 'fail|skip',
  'on-drift': 'keep|evolve|fail',
  'max-files': 'N',
  'max-bytes': 'N',
  credential: 'NAME',
  status: 'STATE',
  retry: '',
  json: '',
};

/** Programs of their own, which are commands of this one, too. */
export const toolCommands = ['migrate', 'unload'] as const;

export const shells = ['bash', 'zsh', 'fish'] as const;
