/** The service in a real workerd, as `wrangler dev` runs it, on this machine alone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unstable_startWorker } from 'wrangler';
import { projectRoot } from '../../rules/project-files.ts';

export interface EdgeWorker {
  readonly url: string;
  end(): Promise<void>;
}

export interface EdgeWorkerOptions {
  /** settings and secrets, `SVC_…` */
  readonly texts: Readonly<Record<string, string>>;
  /** address behind the binding HYPERDRIVE */
  readonly hyperdrive?: string;
  /** binds a bucket of R2 as FILES */
  readonly bucket?: boolean;
}

export async function startEdgeWorker({ texts, hyperdrive, bucket }: EdgeWorkerOptions): Promise<EdgeWorker> {
  process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false';
  process.env['WRANGLER_SEND_METRICS'] = 'false';
  const folder = await mkdtemp(join(tmpdir(), 'edge-worker-'));
  const worker = await unstable_startWorker({
    config: join(projectRoot, 'wrangler.toml'),
    bindings: {
      ...Object.fromEntries(
        Object.entries(texts).map(([name, value]) => [name, { type: 'plain_text' as const, value }]),
      ),
      ...(hyperdrive === undefined
        ? {}
        : { HYPERDRIVE: { type: 'hyperdrive' as const, id: 'local', localConnectionString: hyperdrive } }),
      ...(bucket === true ? { FILES: { type: 'r2_bucket' as const, bucket_name: 'conversions' } } : {}),
    },
    dev: {
      remote: false,
      inspector: false,
      logLevel: 'error',
      persist: join(folder, 'state'),
      server: { hostname: '127.0.0.1', port: 0 },
      watch: false,
    },
  });
  await worker.ready;
  return {
    url: (await worker.url).origin,
    async end() {
      await worker.dispose();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
