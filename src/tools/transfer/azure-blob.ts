/** Packages to and from cloud storage with the built-in client, which is loaded when one is copied. */
import { readdir } from 'node:fs/promises';
import { createReadStream, createWriteStream } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { pipeline as pipe } from 'node:stream/promises';
import type { RequestPolicyFactory } from '@azure/storage-blob';
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { CheckedHost } from '../../ports/network.ts';
import type { PackageTransfer } from './local-package-folder.ts';
import { pinnedLookup } from '../../network/checked-http.ts';

/** Size of a block; four blocks at most are in memory at a time. */
const blockBytes = 8 * 1024 * 1024;
const blocksAtOnce = 4;
const triesPerRequest = 3;
const firstRetryMs = 500;
const tryTimeoutMs = 60_000;
/** Milliseconds without any bytes after which every try must have ended by itself. */
const silenceMs = triesPerRequest * (tryTimeoutMs + 4000);
/** a package has a dozen files, and its list one page: a folder with more files holds no package */
const maxFiles = 100;

/** `checked`: the addresses that were checked; `maxBytes`: of all that is downloaded; `patienceMs`: without a byte of it. */
export function createBlobTransfer(
  location: URL,
  checked: CheckedHost,
  manifestName: string,
  maxBytes: number = fixedLimits.packageBytes,
  patienceMs: number = silenceMs,
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
    const bound = boundAnswers(maxBytes, patienceMs);
    pipeline.factories.push(bound.factory);
    const client = new ContainerClient(container.href, pipeline);
    return {
      client,
      bound,
      close: () => {
        bound.end();
        agent.destroy();
      },
    };
  }

  /** Runs `work`, and hides the client's fault messages, which contain the request and its token. */
  async function guarded<T>(
    work: (connected: Awaited<ReturnType<typeof connect>>) => Promise<T>,
  ): Promise<T> {
    const connected = await connect();
    const { bound, close } = connected;
    try {
      return await work(connected);
    } catch (error) {
      if (error instanceof AppError) throw error;
      // the client wraps it, or says that it broke off
      const fault = bound.fault();
      if (fault !== null) throw fault;
      const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
      const what = [statusCode, code].filter((part) => part !== undefined).join(' ');
      throw new AppError(
        'service_unavailable',
        `cloud storage refused or ended the copy (${what || 'no answer'})`,
      );
    } finally {
      close();
    }
  }

  async function downloadAll(
    { client, bound }: Awaited<ReturnType<typeof connect>>,
    folder: string,
  ): Promise<void> {
    const names: string[] = [];
    let pages = 0;
    for await (const { segment } of client.listBlobsFlat({ prefix }).byPage()) {
      pages += 1;
      names.push(...segment.blobItems.map(({ name }) => name.slice(prefix.length)));
      // a name with a folder in it would lead out of ours
      const isPackage = names.every((name) => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,100}$/.test(name));
      if (!isPackage || names.length > maxFiles || pages > maxFiles)
        throw new AppError('unprocessable_input', 'the cloud location has files that do not form a package');
    }
    if (names.length === 0)
      throw new AppError('unprocessable_input', 'there is nothing at the cloud location');
    for (const name of names) {
      const { readableStreamBody } = await client
        .getBlobClient(prefix + name)
        .download(0, undefined, { maxRetryRequests: triesPerRequest });
      // immediately: an answer that breaks off while nothing reads it would end the process
      const file = createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 });
      await pipe(readableStreamBody!, bound.counted, file);
    }
  }

  return {
    upload: (folder) =>
      guarded(async ({ client }) => {
        const names = (await readdir(folder)).filter((name) => name !== manifestName);
        // The manifest comes last: a copy that breaks off leaves nothing that looks whole
        for (const name of [...names.toSorted(), manifestName]) {
          await client
            .getBlockBlobClient(prefix + name)
            .uploadStream(createReadStream(join(folder, name)), blockBytes, blocksAtOnce);
        }
      }),
    download: (folder) =>
      guarded(async (connected) => {
        // an answer that ends in its middle may leave the client waiting for good
        const { silence } = connected.bound;
        await Promise.race([silence, downloadAll(connected, folder)]);
      }),
  };
}

interface BoundAnswers {
  readonly factory: RequestPolicyFactory;
  /** returns the fault that ended an answer early */
  readonly fault: () => AppError | null;
  /** passes the bytes of a file on as long as they are few enough */
  readonly counted: (source: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
  /** rejects after too long a silence */
  readonly silence: Promise<never>;
  end(): void;
}

/**
 * Aborts answers that no storage with a package would give: a list is held in memory as a whole, and downloads fill the disk. Bytes of
 * files are counted while reading: with its own progress callback the client does not notice that an answer breaks off.
 */
function boundAnswers(maxBytes: number, patienceMs: number): BoundAnswers {
  let received = 0;
  let fault: AppError | null = null;
  const { promise: silence, reject } = Promise.withResolvers<never>();
  // nobody may be waiting for it
  silence.catch(() => undefined);
  const timer = setTimeout(() => {
    fault ??= new AppError('service_unavailable', 'cloud storage refused or ended the copy (no answer)');
    reject(fault);
  }, patienceMs);
  const take = (bytes: number, isTooMuch: boolean): void => {
    received += bytes;
    timer.refresh();
    if (received <= maxBytes && !isTooMuch) return;
    fault ??= new AppError(
      'unprocessable_input',
      'the cloud location has more files or bytes than a package can have',
    );
    throw fault;
  };
  const factory: RequestPolicyFactory = {
    create: (next) => ({
      sendRequest(request) {
        timer.refresh();
        let ofThis = 0;
        if (new URL(request.url).searchParams.get('comp') === 'list')
          request.onDownloadProgress = ({ loadedBytes }) => {
            const more = loadedBytes - ofThis;
            ofThis = loadedBytes;
            take(more, ofThis > fixedLimits.answerBytes);
          };
        return next.sendRequest(request);
      },
    }),
  };
  async function* counted(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of source) {
      take(chunk.byteLength, false);
      yield chunk;
    }
  }
  return { factory, fault: () => fault, counted, silence, end: () => clearTimeout(timer) };
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
