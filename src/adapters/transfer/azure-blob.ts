/** Packages to and from cloud storage with the built-in client, which is loaded when one is copied. */
import { open, readdir } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { pipeline as pipe } from 'node:stream/promises';
import type { RequestPolicyFactory } from '@azure/storage-blob';
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { CheckedHost } from '../../ports/network/outgoing.ts';
import type { PackageTransfer } from './package-transfer.ts';
import { pinnedLookup } from '../outgoing/checked-http.ts';

/** Size of a block; four blocks at most are in memory at a time. */
const blockBytes = 8 * 1024 * 1024;
const blocksAtOnce = 4;
const triesPerRequest = 3;
const firstRetryMs = 500;
const tryTimeoutMs = 60_000;
/** a package has a dozen files, and its list one page: whoever has more is none */
const maxFiles = 100;

/** `checked`: the addresses that were checked; `maxBytes`: of all that is downloaded. */
export function createBlobTransfer(
  location: URL,
  checked: CheckedHost,
  manifestName: string,
  maxBytes: number = fixedLimits.packageBytes,
): PackageTransfer {
  const { container, prefix } = split(location);

  async function connect() {
    const { AnonymousCredential, ContainerClient, newPipeline } = await import('@azure/storage-blob');
    const lookup = pinnedLookup(checked);
    const agent = location.protocol === 'https:' ? new HttpsAgent({ lookup }) : new HttpAgent({ lookup });
    const options = {
      agent,
      retryOptions: {
        maxTries: triesPerRequest,
        retryDelayInMs: firstRetryMs,
        maxRetryDelayInMs: 4000,
        tryTimeoutInMs: tryTimeoutMs,
      },
    };
    const pipeline = newPipeline(new AnonymousCredential(), options);
    const bound = boundAnswers(maxBytes);
    pipeline.factories.push(bound.factory);
    const client = new ContainerClient(container.href, pipeline);
    return { client, fault: bound.fault, close: () => agent.destroy() };
  }

  /** What a fault of the client says holds its request, and that the token. */
  async function guarded<T>(
    work: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<T>,
  ): Promise<T> {
    const { client, fault, close } = await connect();
    try {
      return await work(client);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // the client wraps it, or says that it broke off
      if (fault() !== null) throw fault();
      const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
      const what = [statusCode, code].filter((part) => part !== undefined).join(' ');
      throw new AppError(
        'service_unavailable',
        `cloud storage refused or broke off the copy (${what || 'no answer'})`,
      );
    } finally {
      close();
    }
  }

  return {
    upload: (folder) =>
      guarded(async (client) => {
        const names = (await readdir(folder)).filter((name) => name !== manifestName);
        // The manifest comes last: a copy that breaks off leaves nothing that looks whole
        for (const name of [...names.toSorted(), manifestName]) {
          await client
            .getBlockBlobClient(prefix + name)
            .uploadStream(createReadStream(join(folder, name)), blockBytes, blocksAtOnce);
        }
      }),
    download: (folder) =>
      guarded(async (client) => {
        const names: string[] = [];
        let pages = 0;
        for await (const { segment } of client.listBlobsFlat({ prefix }).byPage()) {
          pages += 1;
          names.push(...segment.blobItems.map(({ name }) => name.slice(prefix.length)));
          // a name with a folder in it would lead out of ours
          const isPackage = names.every((name) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,100}$/.test(name));
          if (!isPackage || names.length > maxFiles || pages > maxFiles)
            throw new AppError('unprocessable_input', 'the cloud location holds files that are no package');
        }
        if (names.length === 0)
          throw new AppError('unprocessable_input', 'there is nothing at the cloud location');
        for (const name of names) {
          const { readableStreamBody } = await client
            .getBlobClient(prefix + name)
            .download(0, undefined, { maxRetryRequests: triesPerRequest });
          const file = await open(join(folder, name), 'wx', 0o600);
          await pipe(readableStreamBody!, file.createWriteStream());
        }
      }),
  };
}

/** Breaks off answers that no storage with a package in it gives: a list is held whole, and what is downloaded fills the disk. */
function boundAnswers(maxBytes: number): {
  readonly factory: RequestPolicyFactory;
  readonly fault: () => AppError | null;
} {
  let received = 0;
  let fault: AppError | null = null;
  const factory: RequestPolicyFactory = {
    create: (next) => ({
      sendRequest(request) {
        let ofThis = 0;
        const isList = new URL(request.url).searchParams.get('comp') === 'list';
        request.onDownloadProgress = ({ loadedBytes }) => {
          received += loadedBytes - ofThis;
          ofThis = loadedBytes;
          if (received <= maxBytes && !(isList && ofThis > fixedLimits.answerBytes)) return;
          fault ??= new AppError(
            'unprocessable_input',
            'the cloud location holds more than a package may have',
          );
          throw fault;
        };
        return next.sendRequest(request);
      },
    }),
  };
  return { factory, fault: () => fault };
}

/** `…/container/a/b/?token` is the container `…/container?token` and the prefix `a/b/`; an emulator has the account first. */
function split(location: URL): { readonly container: URL; readonly prefix: string } {
  const steps = location.pathname.slice(1, -1).split('/');
  const accountInPath =
    isIP(location.hostname.replaceAll(/^\[|\]$/g, '')) !== 0 || location.hostname === 'localhost';
  const own = steps.splice(0, accountInPath ? 2 : 1);
  if (own.length < (accountInPath ? 2 : 1))
    throw new AppError('invalid_parameter', 'the cloud location names no container');
  const container = new URL(location);
  container.pathname = `/${own.join('/')}`;
  const prefix = steps.length === 0 ? '' : `${steps.map(decodeURIComponent).join('/')}/`;
  return { container, prefix };
}
