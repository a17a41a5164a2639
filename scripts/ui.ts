/**
 * `npm run ui`: bundles the page, `src/ui`, into `src/http/packed-page.ts`, with which every runtime serves it. `-- --check`: only
 * tells whether that module is current; ends with 1 when it is not.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const target = join(root, 'src/http/packed-page.ts');
const current = readCurrent();
const styles = readdirSync(join(root, 'src/ui/style')).toSorted();
const packed: readonly (readonly [name: string, content: string])[] = [
  ['icon.svg', readFileSync(join(root, 'src/ui/icon.svg'), 'utf8')],
  ['main.js', await bundle('js', "import './main.ts';")],
  ['sql-editor.js', licences() + (await bundle('js', "export * from './rows/sql-editor.ts';", true))],
  ['style.css', await bundle('css', styles.map((name) => `@import './style/${name}';`).join('\n'))],
];
const stale =
  packed.length !== current.size || packed.some(([name, content]) => current.get(name) !== content);

if (process.argv.includes('--check')) {
  if (stale) {
    process.stderr.write('src/http/packed-page.ts is not made of src/ui as it is now: run npm run ui\n');
    process.exitCode = 1;
  }
} else if (stale) writeFileSync(target, moduleText());

/** `contents`: a module or style sheet in `src/ui`, with all that it imports. `foreign`: most of it is not read by people of this project. */
async function bundle(loader: 'js' | 'css', contents: string, foreign = false): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, loader, resolveDir: join(root, 'src/ui') },
    bundle: true,
    format: 'esm',
    target: 'es2023',
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: foreign,
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles[0]!.text;
}

/** The license of the editor, whose packages share it, as a comment. */
function licences(): string {
  const text = readFileSync(join(root, 'node_modules/@codemirror/view/LICENSE'), 'utf8').trim();
  return `/* CodeMirror and Lezer\n${text}\n*/\n`;
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
