/** The command `migrate`: schemas between installations, as packages in folders or in cloud storage. */
import { mkdtemp, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAzcopyTransfer, isAzcopyInstalled } from './azcopy.ts';
import { createBlobTransfer } from './azure-blob.ts';
import { createHostResolver } from '../../network/checked-http.ts';
import { createLocalPackageFolder, replaceFolder, type PackageTransfer } from './local-package-folder.ts';
import { AppError } from '../../errors.ts';
import { createMask } from '../../service/jobs/mask-secrets.ts';
import { parseCloudLocation } from '../../service/transfer/cloud-location.ts';
import { exportPackage } from '../../service/transfer/package-export.ts';
import { importPackage } from '../../service/transfer/package-import.ts';
import { manifestName, partNames } from '../../service/transfer/package-format.ts';
import {
  openTransferDatabase,
  type TransferDatabase,
  transferUsage,
  readTransferCall,
  secretsOfTransfer,
  type TransferCall,
  type ToolTransfer,
} from './package-transfer.ts';
import { createTerminal } from '../cli/terminal.ts';

/** Exit codes, as of the other tools (docs/decisions/service/tools-are-processes.md). */
const exitCodes = { completed: 0, failed: 1, usage: 2 } as const;
const packageFiles = [manifestName, ...partNames];
const terminal = createTerminal();

async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 0 || argv.includes('--help') || argv.includes('-h')) {
    terminal.log(transferUsage);
    return argv.length === 0 ? exitCodes.usage : exitCodes.completed;
  }
  let call: TransferCall;
  try {
    call = await readTransferCall(argv);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    terminal.complain(`migrate: ${error.message}`);
    terminal.complain('migrate --help shows its usage');
    return exitCodes.usage;
  }
  return runCall(call);
}

async function runCall({ command, request }: TransferCall): Promise<number> {
  const location = request.az_output_path || request.az_input_path;
  const shown = location === undefined ? '' : (location.split('?')[0] ?? '');
  const mask = createMask(secretsOfTransfer(request));
  const log = (line: string): void => terminal.log(mask(line));
  let database: TransferDatabase | null = null;
  try {
    database = await openTransferDatabase(command, request);
    const origins =
      command === 'export'
        ? await runExport(database, request, log)
        : await runImport(database, request, log);
    await database.finish(null);
    const answer =
      command === 'export'
        ? { error: false, az_output_path: shown }
        : { error: false, origin_ids: origins.join(', ') };
    terminal.log(JSON.stringify(answer));
    return exitCodes.completed;
  } catch (error) {
    const failure = mask(reasonOf(error));
    terminal.complain(`failed: ${failure}`);
    // the reason is on the terminal, and the exit code says the rest
    await database?.finish(failure).catch(() => undefined);
    const code = error instanceof AppError ? error.code : 'internal_error';
    const empty = command === 'export' ? { az_output_path: shown } : { origin_ids: '' };
    terminal.log(JSON.stringify({ error: true, ...empty, code, failure }));
    return exitCodes.failed;
  } finally {
    await database?.close();
  }
}

async function runExport(
  { store, idOrg }: TransferDatabase,
  request: ToolTransfer,
  log: (line: string) => void,
): Promise<readonly number[]> {
  const what = { idOrg, idSch: Number(request.origin_id), nowMs: Date.now() };
  const write = async (folder: string): Promise<readonly number[]> => {
    const { parts, origins } = await exportPackage(store, createLocalPackageFolder(folder), what);
    for (const { name, records, bytes } of parts) log(`${name}: ${records} records, ${bytes} bytes`);
    return origins;
  };
  if (!request.az_output_path)
    return replaceFolder(resolve(request.output_path!), packageFiles, manifestName, write);
  const transfer = await chooseTransfer(request, request.az_output_path, log);
  const scratch = await mkdtemp(join(tmpdir(), 'export-'));
  try {
    const origins = await write(scratch);
    await transfer.upload(scratch);
    log('copied to the cloud location');
    return origins;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function runImport(
  { store, idOrg, idJob }: TransferDatabase,
  request: ToolTransfer,
  log: (line: string) => void,
): Promise<readonly number[]> {
  const folder = resolve(request.input_path!);
  if (request.az_input_path) {
    const transfer = await chooseTransfer(request, request.az_input_path, log);
    await replaceFolder(folder, packageFiles, manifestName, (part) => transfer.download(part));
    log('copied from the cloud location');
  }
  const { origins } = await importPackage(store, createLocalPackageFolder(folder), { idOrg, idJob });
  log(`stored as ${origins.join(', ')}`);
  return origins;
}

async function chooseTransfer(
  request: ToolTransfer,
  text: string,
  log: (line: string) => void,
): Promise<PackageTransfer> {
  const location = parseCloudLocation(text);
  if ('fault' in location) throw new AppError('invalid_parameter', `the cloud location ${location.fault}`);
  const { url } = location;
  const addresses = request.az_addresses;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const host = url.hostname;
  const checked = { host, port, addresses: addresses ?? (await addressesOf(host)) };
  const binary = request.azcopy_binary || 'builtin';
  if (binary !== 'builtin' && (await isAzcopyInstalled(binary))) {
    log('copying with azcopy');
    return createAzcopyTransfer({ binary, location: url, checked, manifestName });
  }
  log('copying with the built-in client');
  return createBlobTransfer(url, checked, manifestName);
}

/** A person may reach every host. */
async function addressesOf(host: string): Promise<readonly string[]> {
  const bare = host.replaceAll(/^\[|\]$/g, '');
  return isIP(bare) === 0 ? createHostResolver().resolve(host) : [bare];
}

function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const { code } = error as { code?: unknown };
  if (code === 'ENOSPC') return 'the disk is full';
  return error instanceof Error ? error.message : String(error);
}

void main(process.argv.slice(2)).then((code) => (process.exitCode = code));
