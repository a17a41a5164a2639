/** What a start loads before it knows what is to be done: little, as `--help` and a wrong call need no more. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readImports, readText } from './project-files.ts';

/** Modules that are there before the first line of `entry` runs, and packages. */
function loadedWith(entry: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    if (!path.startsWith('src/')) return;
    for (const { specifier, typeOnly, dynamic } of readImports(readText(path))) {
      if (typeOnly || dynamic) continue;
      visit(specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier);
    }
  };
  visit(entry);
  return seen;
}

describe.each(['xml2er', 'xsd2er', 'er2xml', 'unload'])('%s, before its arguments are understood', (tool) => {
  const loaded = [...loadedWith(`src/tools/commands/${tool}.ts`)];

  it('has read them', () => {
    expect(loaded).toContain('src/jobs/request/read-request.ts');
  });

  it('has loaded neither a database, nor the engine, nor a target', () => {
    const early = loaded.filter((path) =>
      /^src\/(?:adapters\/(?!processes\/)|runtime\/|tools\/(?:session|load|inputs|convert|write-back)\/|engine\/(?:infer|map|unshred|xsd|xml)\/)|^(?!node:|src\/)/.test(
        path,
      ),
    );
    expect(early).toEqual([]);
  });

  it(`has loaded a few modules`, () => {
    expect(loaded.filter((path) => path.startsWith('src/')).length).toBeLessThan(60);
  });
});
