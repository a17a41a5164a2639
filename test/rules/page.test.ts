/** The page at `/`: its packed files are those of its sources, and no text becomes markup or script in it. */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { listFiles, projectRoot, readImports, readText } from './project-files.ts';

const modules = listFiles('src/ui').filter((path) => path.endsWith('.ts'));

describe('the page', () => {
  it('is packed as its sources are now', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/ui.ts', '--check'], {
      cwd: projectRoot,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  });

  it('makes elements, and never markup, styles or code of text', () => {
    const forbidden =
      /\b(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc|eval|Function|DOMParser|createContextualFragment)\b|document\.(?:write|cookie)|createPolicy|setAttribute\('style'|\bstyle:/;
    const found = modules.flatMap((path) =>
      readText(path)
        .split('\n')
        .flatMap((line, at) => (forbidden.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it('has no framework: it loads modules of its own alone, and the editor when a SQL box opens', () => {
    const editor = 'src/ui/rows/sql-editor.ts';
    const importers = modules.filter((path) =>
      readImports(readText(path)).some(
        ({ specifier, typeOnly }) => specifier.endsWith('/sql-editor.ts') && !typeOnly,
      ),
    );
    expect(importers).toEqual([]);
    const own = modules.filter((path) => path !== editor);
    const loaded = own.flatMap((path) =>
      readImports(readText(path))
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ specifier }) => specifier),
    );
    expect(loaded.filter((specifier) => !specifier.startsWith('.'))).toEqual([]);
    expect(loaded.length).toBeGreaterThan(30);
  });

  it('keeps the key out of addresses', () => {
    const uses = modules.filter((path) => /\bkeptKey\b/.test(readText(path)));
    for (const path of uses) expect([path, /[?&]key=/.test(readText(path))]).toEqual([path, false]);
  });

  it('reaches no other host', () => {
    const addresses = [
      ...modules,
      ...listFiles('src/ui').filter((path) => /\.(?:css|svg)$/.test(path)),
    ].flatMap((path) =>
      [...readText(path).matchAll(/https?:\/\/[^'"\s)]+/g)].map(([address]) => `${path}: ${address}`),
    );
    expect(addresses.filter((line) => !line.endsWith('http://www.w3.org/2000/svg'))).toEqual([]);
  });
});
