/** Modules are written so that a start has them from what is kept: what is not understood costs each start its reading. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileFunction } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { rewrite, withoutTypes } from '../../src/tools/bin/modules/rewrite.mjs';
import { listFiles, readText } from './project-files.ts';

/** What runs in browsers is packed by `npm run ui`. */
const modules = listFiles().filter((path) => /^src\/(?!ui\/).*(?<!\.d)\.ts$/.test(path));

function faultOf(source: string): string | null {
  let fault = '';
  for (const mayAwait of [false, true]) {
    const form = rewrite(source, mayAwait);
    if (form === null) return 'written in a way that src/tools/bin/modules/rewrite.mjs does not know';
    try {
      compileFunction(`return ${form.code}`);
      return null;
    } catch (error) {
      fault = String(error);
    }
  }
  return fault;
}

/** By the folder below `src` that they are in. */
const rooms = Object.entries(Object.groupBy(modules, (path) => path.split('/').slice(0, 3).join('/')));

describe('a module', () => {
  it.each(rooms)('of %s is understood by what keeps it', (_room, paths = []) => {
    const faults = paths.map((path) => [path, faultOf(withoutTypes(readText(path)))]);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
  });

  it('is found', () => {
    expect(modules.length).toBeGreaterThan(1000);
  });

  it('of the driver of databases is, too, which no other package imports', () => {
    const main = import.meta.resolve('postgres');
    expect(main).toMatch(/\/node_modules\/postgres\/src\/index\.js$/);
    const folder = fileURLToPath(new URL('.', main));
    const faults = readdirSync(folder).map((name) => [name, faultOf(readFileSync(folder + name, 'utf8'))]);
    expect(faults.length).toBeGreaterThan(5);
    expect(faults.filter(([, fault]) => fault !== null)).toEqual([]);
    const { packages } = JSON.parse(readText('package-lock.json')) as {
      packages: Record<string, { dependencies?: Record<string, string> }>;
    };
    const users = Object.keys(packages).filter((name) => packages[name]?.dependencies?.['postgres']);
    expect(users).toEqual(['']);
  });
});
