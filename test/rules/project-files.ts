/** What the rules read: the project's own files, and the imports of a module. */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

/** `.git` is a file in a second work tree. */
const foreign = new Set(['node_modules', '.git', 'dist', 'coverage', '.wrangler']);

/** Paths from the project's root, '/'-separated, of all files under a folder ('' = everything that is ours). */
export function listFiles(folder = ''): string[] {
  return readdirSync(projectRoot + folder, { withFileTypes: true }).flatMap((entry) => {
    if (foreign.has(entry.name)) return [];
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

export function readText(path: string): string {
  return readFileSync(projectRoot + path, 'utf8');
}

export interface ImportOf {
  /** as written */
  readonly specifier: string;
  /** nothing is left of it at run time */
  readonly typeOnly: boolean;
  readonly reExport: boolean;
}

const importPattern =
  /(?:^|[\n;])\s*(import|export)\s+(type\s+)?(?:[\w*$\s{},]*?\sfrom\s+)?(['"])([^'"\n]+)\3|\bimport\(\s*(['"])([^'"\n]+)\5\s*\)/g;

/** The imports, re-exports and literal `import()` calls of a module, comments left aside. */
export function readImports(source: string): ImportOf[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  return [...code.matchAll(importPattern)].map((match) => ({
    specifier: match[4] ?? match[6] ?? '',
    typeOnly: match[2] !== undefined,
    reExport: match[1] === 'export',
  }));
}
