/**
 * `npm run ui`: packs the sources of the page, `src/ui`, into `src/http/page/packed-files.ts`, with which every runtime serves them: types
 * are stripped, as Node does for the service itself. `-- --check`: only tells whether that module is current; ends with 1 when it is not.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/http/page/packed-files.ts');
const current = readCurrent();
const packed = readdirSync(join(root, 'src/ui'), { recursive: true })
  .map(String)
  .filter((path) => /\.(?:ts|css|svg)$/.test(path))
  .toSorted()
  .map((path): [name: string, content: string] => [
    path.replace(/\.ts$/, '.js'),
    served(path, readFileSync(join(root, 'src/ui', path), 'utf8')),
  ])
  // of types alone nothing is left, and nobody loads it
  .filter(([, content]) => content.replaceAll(/\/\*[\s\S]*?\*\//g, '').trim() !== '');
const stale =
  packed.length !== current.size || packed.some(([name, content]) => current.get(name) !== content);

if (process.argv.includes('--check')) {
  if (stale) {
    process.stderr.write(
      'src/http/page/packed-files.ts is not made of src/ui as it is now: run npm run ui\n',
    );
    process.exitCode = 1;
  }
} else if (stale) writeFileSync(target, moduleText());

/** A source as browsers get it. */
function served(path: string, source: string): string {
  if (!path.endsWith('.ts')) return source;
  return stripTypeScriptTypes(source)
    .replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'")
    .replaceAll(/[ \t]+$/gm, '');
}

/** What the module holds now: other releases of zlib pack the same content otherwise. */
function readCurrent(): ReadonlyMap<string, string> {
  let text = '';
  try {
    text = readFileSync(target, 'utf8');
  } catch {
    // it is made for the first time
  }
  const entries = [...text.matchAll(/^ {2}'(.+)': \{ digest: '\w+', gzip: '(.+)' \},$/gm)];
  return new Map(
    entries.map(([, name, gzip]) => [name!, gunzipSync(Buffer.from(gzip!, 'base64')).toString('utf8')]),
  );
}

function moduleText(): string {
  const lines = packed.map(([name, content]) => {
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
    return `  '${name}': { digest: '${digest}', gzip: '${gzipSync(content, { level: 9 }).toString('base64')}' },\n`;
  });
  return (
    `/** The files of src/ui as browsers get them, packed by \`npm run ui\`: gzip as base64. */\n` +
    `interface PackedFile {\n  readonly digest: string;\n  readonly gzip: string;\n}\n\n` +
    `export const packedFiles: Readonly<Record<string, PackedFile>> = {\n${lines.join('')}};\n`
  );
}
