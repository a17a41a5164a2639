/** The storage emulator as a process of its own, with a container, a token for it, and a look at what lies there. */
import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The emulator's own account, the same everywhere and public: no secret. */
const account = 'devstoreaccount1';
const accountKey = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

export interface CloudStorage {
  /** `127.0.0.1:PORT` */
  readonly address: string;
  readonly account: string;
  /** base64; the emulator's own, the same everywhere */
  readonly key: string;
  /** a location below the container, with a token that lets read, list and write there */
  location(folder: string): Promise<CloudFolder>;
  stop(): Promise<void>;
}

export interface CloudFolder {
  /** ends in a slash, then the query */
  readonly url: string;
  /** without the query */
  readonly shown: string;
  /** value of `sig` as it stands in the query */
  readonly signature: string;
  names(): Promise<readonly string[]>;
  replace(name: string, text: string, metadata?: Record<string, string>): Promise<void>;
}

/** The package's program copied and made executable; null where it, or a library it needs, is not installed. */
export async function installAzcopy(folder: string): Promise<string | null> {
  const entry = (() => {
    try {
      return createRequire(import.meta.url).resolve('@azure-tools/azcopy-linux');
    } catch {
      return null;
    }
  })();
  const binary = entry === null ? '' : join(dirname(entry), 'bin/azcopy_linux_amd64');
  if (!existsSync(binary) || process.arch !== 'x64') return null;
  const copy = join(folder, 'azcopy');
  await copyFile(binary, copy);
  await chmod(copy, 0o755);
  const code = await new Promise<number | null>((resolve) => {
    const env = { HOME: folder, AZCOPY_LOG_LOCATION: folder, AZCOPY_JOB_PLAN_LOCATION: folder };
    const child = spawn(copy, ['--version'], { stdio: 'ignore', env });
    child.once('error', () => resolve(null));
    child.once('exit', resolve);
  });
  return code === 0 ? copy : null;
}

export async function startCloudStorage(): Promise<CloudStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-storage-'));
  const entry = fileURLToPath(
    new URL('../../../node_modules/azurite/dist/src/blob/main.js', import.meta.url),
  );
  const child = spawn(
    process.execPath,
    [
      entry,
      ...'--blobPort 0 --blobHost 127.0.0.1 --skipApiVersionCheck --disableTelemetry --silent'.split(' '),
    ],
    // its data lies where it runs
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const port = await new Promise<number>((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const found = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`the storage emulator did not start:\n${output}`)));
  });
  const blob = await import('@azure/storage-blob');
  const credential = new blob.StorageSharedKeyCredential(account, accountKey);
  const container = new blob.ContainerClient(`http://127.0.0.1:${port}/${account}/packages`, credential);
  await container.create();
  return {
    address: `127.0.0.1:${port}`,
    account,
    key: accountKey,
    async location(prefix) {
      const token = blob.generateBlobSASQueryParameters(
        {
          containerName: 'packages',
          permissions: blob.ContainerSASPermissions.parse('racwdl'),
          expiresOn: new Date(Date.now() + 3_600_000),
        },
        credential,
      );
      const shown = `${container.url}/${prefix}/`;
      return {
        url: `${shown}?${token.toString()}`,
        shown,
        signature: /(?:^|&)sig=([^&]*)/.exec(token.toString())![1]!,
        async names() {
          const names: string[] = [];
          for await (const item of container.listBlobsFlat({ prefix: `${prefix}/` }))
            names.push(item.name.slice(prefix.length + 1));
          return names.toSorted();
        },
        async replace(name, text, metadata = {}) {
          await container
            .getBlockBlobClient(`${prefix}/${name}`)
            .upload(text, new TextEncoder().encode(text).byteLength, { metadata });
        },
      };
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
