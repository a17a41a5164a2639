/**
 * `npm run package`: the package as it is published, in `dist/package`, and packed beside it: the bundled programs (scripts/build.mjs),
 * the entries for other programs as ES modules with their types, the documentation as a site, and a package.json of what users need.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';
import { buildPrograms, constants, forNode } from './build.mjs';
import { packagePage, packageReadme } from './package/readme.ts';
import { buildSite } from './site/build.ts';

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

const root = fileURLToPath(new URL('../', import.meta.url));
const out = join(root, 'dist', 'package');

const {
  devDependencies: _,
  scripts: __,
  allowScripts: ___,
  scarfSettings: ____,
  exports: sources,
  ...manifest
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
/** The source of each entry, by its name in the published package: of `./node` it is `node`. */
const entries = Object.entries(sources).map(([path, source]) => ({
  path,
  source,
  name: path === '.' ? 'index' : path.slice('./'.length),
}));

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const name of readdirSync(join(root, 'dist')))
  if (name.endsWith('.tgz')) rmSync(join(root, 'dist', name));
await bundle();
declare();
copyAssets();
copyExamples();
await buildSite(out, join(out, 'dist', 'help'));
writeManifest();
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', join(root, 'dist'), out], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, npm_config_loglevel: 'error' },
  }),
) as [{ filename: string; size: number; unpackedSize: number; entryCount: number }];
process.stdout.write(
  `dist/${packed.filename}: ${packed.entryCount} files, ${mib(packed.size)} packed, ${mib(packed.unpackedSize)} unpacked\n`,
);

/** Entries share their modules, so that classes such as AppError are the same in all. */
async function bundle(): Promise<void> {
  const define = await constants(esbuild);
  await buildPrograms(esbuild, join(out, 'dist'), define);
  await esbuild.build({
    ...forNode,
    entryPoints: entries.map(({ name, source }) => ({ in: source, out: name })),
    outdir: join(out, 'dist'),
    format: 'esm',
    splitting: true,
    // this driver has another entry for the edge
    external: [...forNode.external!, 'postgres'],
    define,
  });
}

/** The types of the entries and of the modules that they refer to. */
function declare(): void {
  const settings = {
    extends: '../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      emitDeclarationOnly: true,
      rewriteRelativeImportExtensions: true,
      rootDir: '../src',
      outDir: 'package/dist/types',
    },
    include: entries.map(({ source }) => `../${source}`),
  };
  const file = join(root, 'dist', 'tsconfig.json');
  writeFileSync(file, JSON.stringify(settings));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // several threads write the members of unions in an order that changes, and the package with it
  execFileSync(process.execPath, [tsc, '-p', file, '--singleThreaded'], { cwd: root, stdio: 'inherit' });
}

/** Launchers, migrations, texts and the driver on Spark. */
function copyAssets(): void {
  for (const name of ['bin', 'src/metadb/migrations'])
    cpSync(join(root, name), join(out, name), { recursive: true });
  for (const name of ['CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'src/README.md'])
    cpSync(join(root, name), join(out, name));
  writeFileSync(join(out, 'README.md'), packageReadme(readFileSync(join(root, 'README.md'), 'utf8')));
  cpSync(join(root, 'docs'), join(out, 'docs'), { recursive: true });
  const names = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((one) => /^(?!decisions\/|interface\/).*\.md$/.test(one)))
    writeFileSync(join(out, 'docs', name), packagePage(readFileSync(join(root, 'docs', name), 'utf8')));
  cpSync(join(root, 'scripts', 'spark'), join(out, 'scripts', 'spark'), { recursive: true });
}

/** What the README speaks of, to be copied by users. */
function copyExamples(): void {
  const examples = join(out, 'examples');
  cpSync(join(root, 'examples'), examples, {
    recursive: true,
    // the secrets of examples/compose
    filter: (source) => basename(source) !== '.env',
  });
  cpSync(join(root, 'scripts', 'systemd'), join(examples, 'systemd'), { recursive: true });
  for (const folder of ['xsd', 'documents'])
    cpSync(join(root, 'scripts', 'demo', folder), join(examples, 'orders', folder), { recursive: true });
  const settings = readFileSync(join(root, 'wrangler.toml'), 'utf8');
  writeFileSync(
    join(examples, 'edge', 'wrangler.toml'),
    settings
      .replace('main = "src/runtime/cloudflare.ts"', 'main = "worker.ts"')
      .replace(' (src/runtime/cloudflare.ts)', ''),
  );
}

function writeManifest(): void {
  const published = entries.map(({ path, name, source }) => {
    const types = source.replace(/^\.\/src\//, './dist/types/').replace(/\.ts$/, '.d.ts');
    return [path, { types, default: `./dist/${name}.js` }] as const;
  });
  const all = {
    ...manifest,
    engines: { node: '>=22.18' },
    exports: { ...Object.fromEntries(published), './package.json': './package.json' },
  };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(all, null, 2)}\n`);
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
