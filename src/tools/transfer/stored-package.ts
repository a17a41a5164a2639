/** Packages in a store of files: copied from there before an import, and to there when an export has ended well. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { AppError } from '../../errors.ts';
import type { JobFiles } from '../../ports/files.ts';
import type { TransferCommand, TransferRequest, TransferRun } from '../../ports/processes.ts';
import { manifestName, partNames } from '../../service/transfer/package-format.ts';
import { fetchFiles } from '../../storage/local/file-store.ts';

const packageFiles: ReadonlySet<string> = new Set([manifestName, ...partNames]);

/** member of a request that names the folder of the package */
const folderMember = { export: 'output_path', import: 'input_path' } as const;

/**
 * Calls `run` with a request whose folder is on this machine, `directory`, and moves the package between that and the store. A fault of
 * the store is the answer of the run.
 */
export async function withStoredPackage(
  files: JobFiles,
  command: TransferCommand,
  request: TransferRequest,
  directory: string,
  run: (request: TransferRequest) => Promise<TransferRun>,
): Promise<TransferRun> {
  const member = folderMember[command];
  const location = request[member];
  if (typeof location !== 'string' || files.local || !location.startsWith('object:')) return run(request);
  // a package from cloud storage is copied to the folder first
  const isCopied = typeof request['az_input_path'] === 'string';
  try {
    if (command === 'export' || isCopied) await checkReplaceable(files, location);
    else await fetchFiles(files, location, directory, (name) => packageFiles.has(name));
    const ended = await run({ ...request, [member]: directory });
    if (ended.code === 0 && (command === 'export' || isCopied))
      await storePackage(files, directory, location);
    return ended;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: 1, lastLine: JSON.stringify({ error: true, code: error.code, failure: error.message }) };
  }
}

/** AppError `conflict` if a package would come among other files. */
async function checkReplaceable(files: JobFiles, location: string): Promise<void> {
  for await (const found of files.listFiles(location)) {
    if (found.location === location)
      throw new AppError('conflict', 'the path is that of a file, not of a folder');
    if (!packageFiles.has(found.name))
      throw new AppError('conflict', 'the folder has other files: a package needs an empty folder');
  }
}

/** Without its manifest there is no package: the manifest is the first file to go, and the last one to come. */
async function storePackage(files: JobFiles, directory: string, location: string): Promise<void> {
  const parts = (await readdir(directory)).filter((name) => name !== manifestName);
  await files.discard(`${location}/${manifestName}`);
  for (const name of [...parts, manifestName]) {
    const body = Readable.toWeb(createReadStream(join(directory, name)));
    await files.write(`${location}/${name}`, body as unknown as ReadableStream<Uint8Array>);
  }
}
