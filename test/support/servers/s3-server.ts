/** A real S3-compatible server on this machine: `versitygw` (also by the path in VERSITYGW) or `moto_server`. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { S3Settings } from '../../../src/storage/object-store/s3-requests.ts';
import { freePort } from '../free-port.ts';

export interface S3Server {
  readonly settings: S3Settings;
  end(): Promise<void>;
}

const credentials = { accessKeyId: 'test-access', secretAccessKey: 'test-secret-key' };
const bucket = 'conversions';

export const s3Programs = ['versitygw', 'moto_server'] as const;
export type S3Program = (typeof s3Programs)[number];

/** With one empty bucket; null where there is no server to be had. `only`: that one, and no other. */
export async function startS3Server(only?: S3Program): Promise<S3Server | null> {
  const directory = await mkdtemp(join(tmpdir(), 's3-server-'));
  const port = await freePort();
  const command = await commandFor(directory, port, only);
  if (command === null) {
    await rm(directory, { recursive: true });
    return null;
  }
  const [program, ...args] = command;
  await mkdir(join(directory, 'buckets', bucket), { recursive: true });
  const child = spawn(program!, args, {
    stdio: 'ignore',
    env: {
      ...process.env,
      ROOT_ACCESS_KEY: credentials.accessKeyId,
      ROOT_SECRET_KEY: credentials.secretAccessKey,
    },
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const endpoint = `http://127.0.0.1:${port}`;
  const settings = { endpoint, region: 'us-east-1', bucket, ...credentials };
  for (let waits = 0; !(await answers(endpoint)); waits += 1) {
    if (waits > 300) throw new Error(`${program} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // versitygw has its folders for buckets; moto asks for no signature
  if (program!.endsWith('moto_server')) await fetch(`${endpoint}/${bucket}`, { method: 'PUT' });
  return {
    settings,
    async end() {
      child.kill('SIGKILL');
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function commandFor(
  directory: string,
  port: number,
  only: S3Program | undefined,
): Promise<readonly string[] | null> {
  const gateway = process.env['VERSITYGW'] ?? 'versitygw';
  const meta = join(directory, 'meta');
  await mkdir(meta);
  if (only !== 'moto_server' && (await runs(gateway, '--version')))
    return [
      gateway,
      '--port',
      `127.0.0.1:${port}`,
      '--quiet',
      'posix',
      '--sidecar',
      meta,
      join(directory, 'buckets'),
    ];
  if (only !== 'versitygw' && (await runs('moto_server', '--help')))
    return ['moto_server', '-H', '127.0.0.1', '-p', String(port)];
  return null;
}

async function runs(program: string, option: string): Promise<boolean> {
  return promisify(execFile)(program, [option]).then(
    () => true,
    () => false,
  );
}

async function answers(endpoint: string): Promise<boolean> {
  return fetch(endpoint).then(
    () => true,
    () => false,
  );
}
