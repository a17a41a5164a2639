/**
 * `npm run package`: the package as it is published, in `dist/package`, and packed beside it: ES modules with their types, in the
 * places they have in `src`, and a package.json of what users need.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagePage, packageReadme } from './package/readme.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const out = join(root, 'dist', 'package');

rmSync(join(root, 'dist'), { recursive: true, force: true });
mkdirSync(out, { recursive: true });
compile();
copyAssets();
copyExamples();
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

function compile(): void {
  const settings = {
    extends: '../tsconfig.json',
    compilerOptions: {
      noEmit: false,
      // all of it is written each time
      incremental: false,
      tsBuildInfoFile: null,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      removeComments: false,
      rootDir: '..',
      outDir: 'package',
    },
    include: ['../src'],
  };
  const file = join(root, 'dist', 'tsconfig.json');
  writeFileSync(file, JSON.stringify(settings));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', file], { cwd: root, stdio: 'inherit' });
}

/** What is not compiled: launchers, migrations, texts and the driver on Spark. */
function copyAssets(): void {
  for (const entry of readdirSync(join(root, 'src'), { recursive: true }).map(String)) {
    if (!/\.(?:mjs|sql)$/.test(entry) || !statSync(join(root, 'src', entry)).isFile()) continue;
    mkdirSync(dirname(join(out, 'src', entry)), { recursive: true });
    cpSync(join(root, 'src', entry), join(out, 'src', entry));
  }
  for (const name of ['CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'src/README.md'])
    cpSync(join(root, name), join(out, name));
  writeFileSync(join(out, 'README.md'), packageReadme(readFileSync(join(root, 'README.md'), 'utf8')));
  cpSync(join(root, 'docs'), join(out, 'docs'), { recursive: true });
  for (const name of readdirSync(join(root, 'docs')).filter((one) => one.endsWith('.md')))
    writeFileSync(join(out, 'docs', name), packagePage(readFileSync(join(root, 'docs', name), 'utf8')));
  cpSync(join(root, 'scripts', 'spark'), join(out, 'scripts', 'spark'), { recursive: true });
}

/** What the README speaks of, to be copied by users. */
function copyExamples(): void {
  const examples = join(out, 'examples');
  cpSync(join(root, 'examples'), examples, { recursive: true });
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

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

function writeManifest(): void {
  const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const {
    devDependencies: _,
    scripts: __,
    allowScripts: ___,
    scarfSettings: ____,
    exports,
    ...kept
  } = source;
  const compiled = Object.entries(exports).map(([name, path]) => {
    const file = path.replace(/\.ts$/, '');
    return [name, { types: `${file}.d.ts`, default: `${file}.js` }] as const;
  });
  const manifest = {
    ...kept,
    engines: { node: '>=22.18' },
    exports: { ...Object.fromEntries(compiled), './package.json': './package.json' },
  };
  writeFileSync(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function mib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
