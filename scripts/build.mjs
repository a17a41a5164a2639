/**
 * `npm run build`: bundles each table of src/programs into a file in dist, which starts faster than the sources do. `npm ci`
 * runs it. Without esbuild, a development dependency, the sources run. Plain JavaScript, because an old Node reads this file.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Every load needs this driver, and it starts faster as part of the bundle. */
const bundled = ['postgres'];

/** Settings of every bundle for Node. */
export const forNode = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node22.18',
  external: Object.keys({ ...dependencies, ...optionalDependencies })
    .filter((name) => !bundled.includes(name))
    .flatMap((name) => [name, `${name}/*`]),
  legalComments: 'none',
  logLevel: 'warning',
};

/**
 * Constants of a build. `ENGINE_IDENTITY` is the SHA-256 of the code that compiles XSDs and draws models, without comments and white
 * space: models that another engine drew are drawn again.
 */
export async function constants({ build }) {
  const folder = join(root, 'src/engine');
  const files = readdirSync(folder, { recursive: true }).filter((name) =>
    /^(?:infer|map|model|xml|xsd)\b.*\.ts$/.test(name),
  );
  const { outputFiles } = await build({
    entryPoints: files.toSorted().map((name) => join(folder, name)),
    outdir: join(root, 'dist'),
    write: false,
    minifyWhitespace: true,
    legalComments: 'none',
  });
  const hash = createHash('sha256');
  for (const { contents } of outputFiles) hash.update(contents);
  return { ENGINE_IDENTITY: JSON.stringify(hash.digest('hex')) };
}

/** Writes `service.cjs` and `tools.cjs` to a folder. `define`: what `constants` returns. */
export async function buildPrograms(esbuild, folder, define) {
  // processes that start meanwhile find a whole file or none
  const drafts = join(folder, `draft-${process.pid}`);
  await esbuild.build({
    ...forNode,
    entryPoints: ['src/programs/service.ts', 'src/programs/tools.ts'],
    outdir: drafts,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { ...define, 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  for (const name of readdirSync(drafts)) renameSync(join(drafts, name), join(folder, name));
  rmdirSync(drafts);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const esbuild = await import('esbuild').catch(() => null);
  if (esbuild === null)
    process.stdout.write('esbuild is not installed: the programs run from their sources\n');
  else await buildPrograms(esbuild, join(root, 'dist'), await constants(esbuild));
}
