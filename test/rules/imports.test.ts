/** Who may import whom: the directions of src/README.md. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readImports, readText } from './project-files.ts';

interface Area {
  /** folder or file under src/ */
  readonly name: string;
  /** areas and single files that it may import at run time; `*` = every one */
  readonly values: readonly string[];
  /** areas of which it may import types, beyond those of `values` */
  readonly types?: readonly string[];
  /** npm packages and `node:` that it may import */
  readonly packages: readonly string[];
}

/** Sinks write a relational model in a dialect; quoting and DDL are defined once, in the engine. */
const adapter = {
  values: ['ports', 'engine', 'errors.ts', 'config/limits.ts'],
  types: ['service/jobs', 'config/shape.ts'],
};
/** An adapter that runs on Node, with the packages and the other rooms that it may import. */
const onNode = (name: string, packages: readonly string[] = [], rooms: readonly string[] = []): Area => ({
  name,
  values: [...adapter.values, 'installation.ts', ...rooms],
  types: adapter.types,
  packages: ['node:', ...packages],
});
/** Domains: verbs on ports. They know neither HTTP nor SQL nor where they run. */
const domain = {
  values: ['ports', 'engine', 'errors.ts', 'config/limits.ts', 'config/source-access.ts', 'domain'],
  types: ['config/shape.ts'],
  packages: [],
};
const web = ['hono', '@hono/zod-openapi', '@hono/zod-validator', 'zod'];

const areas: readonly Area[] = [
  { name: 'errors.ts', values: [], packages: [] },
  { name: 'installation.ts', values: [], packages: ['node:'] },
  { name: 'engine', values: [], packages: [] },
  { name: 'config/values.ts', values: [], packages: [] },
  {
    name: 'config',
    values: [
      'config/values.ts',
      'config/limits.ts',
      'config/properties.ts',
      'config/shape.ts',
      'config/source-access.ts',
    ],
    types: ['ports'],
    packages: [],
  },
  // settings of the operator and requests of organisations have the same members
  {
    name: 'config/source-access.ts',
    values: ['config/values.ts'],
    types: ['config/shape.ts'],
    packages: [],
  },
  { name: 'config/check-config.ts', values: ['config/wrong-settings.ts', 'config/shape.ts'], packages: [] },
  { name: 'config/shape.ts', values: ['config/limits.ts', 'config/engine-limits.ts'], packages: ['zod'] },
  { name: 'config/engine-limits.ts', values: ['engine', 'config/values.ts'], packages: [] },
  {
    name: 'config/limits.ts',
    values: ['config/engine-limits.ts', 'config/values.ts'],
    types: ['engine'],
    packages: [],
  },
  {
    name: 'config/properties.ts',
    values: ['config', 'config/values.ts', 'config/limits.ts', 'config/source-access.ts', 'engine'],
    types: ['config/shape.ts'],
    packages: [],
  },
  { name: 'ports', values: [], types: ['engine', 'service/jobs'], packages: [] },
  { name: 'service/jobs', ...domain, packages: ['zod'] },
  { name: 'service/catalog', ...domain, packages: ['fflate'] },
  { name: 'service/access', ...domain, packages: ['ipaddr.js'] },
  { name: 'service/files', ...domain },
  { name: 'service/transfer', ...domain, packages: ['zod'] },
  { name: 'service/events', ...domain, packages: ['zod'] },
  { name: 'service/watches', ...domain },
  {
    name: 'http',
    values: ['domain', 'engine', 'errors.ts', 'config/limits.ts', 'config/source-access.ts'],
    types: ['ports', 'config/shape.ts'],
    packages: web,
  },
  {
    name: 'app.ts',
    values: ['http', 'errors.ts', 'config/check-config.ts'],
    types: ['ports', 'config/shape.ts'],
    packages: web,
  },
  onNode('postgres', ['postgres']),
  onNode('metadb', ['postgres'], ['postgres', 'service/jobs/record.ts', 'service/jobs/trace-context.ts']),
  // runs in browsers: what it knows of the service is the types of what goes over the wire
  {
    name: 'ui',
    values: [],
    types: ['http', 'service/jobs', 'service/catalog', 'ports', 'ui/rows/sql-editor.ts'],
    packages: [],
  },
  // the one library of the page, bundled into a file that loads when a SQL box opens
  {
    name: 'ui/rows/sql-editor.ts',
    values: ['ui'],
    packages: [
      '@codemirror/autocomplete',
      '@codemirror/commands',
      '@codemirror/lang-sql',
      '@codemirror/language',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
    ],
  },
  { name: 'targets/rows', ...adapter, packages: [] },
  { name: 'storage/object-store', ...adapter, packages: ['aws4fetch'] },
  onNode('storage/staging'),
  onNode('storage/local'),
  onNode('storage/relay'),
  onNode('network'),
  // one publishing algorithm, which its drivers stand on
  onNode(
    'targets/sql',
    [],
    ['targets/rows', 'targets/files', 'targets/files/folder', 'storage/staging', 'storage/local'],
  ),
  onNode(
    'targets/sql/duckdb',
    ['@duckdb/node-api', '@duckdb/node-bindings'],
    ['targets/rows', 'targets/sql', 'targets/files/folder', 'storage/staging'],
  ),
  onNode('targets/sql/mysql', ['mysql2'], ['targets/rows', 'targets/sql']),
  onNode('targets/sql/postgres', ['postgres'], ['targets/rows', 'targets/sql', 'postgres']),
  onNode('targets/sql/sqlite', [], ['targets/rows', 'targets/sql', 'storage/staging']),
  // the journal of staged files and its places, which folders and tables stand on
  onNode(
    'targets/files',
    [],
    [
      'targets/rows',
      'targets/sql/duckdb',
      'targets/files/folder',
      'storage/staging',
      'storage/local',
      'storage/object-store',
    ],
  ),
  onNode(
    'targets/files/folder',
    [],
    ['targets/files', 'targets/rows', 'targets/sql/duckdb', 'storage/staging', 'storage/local'],
  ),
  onNode(
    'targets/files/lake',
    ['avsc'],
    [
      'targets/rows',
      'targets/sql/duckdb',
      'targets/files',
      'targets/files/folder',
      'storage/staging',
      'storage/local',
    ],
  ),
  onNode('process', ['postgres', 'libxml2-wasm'], ['storage/local', 'storage/staging', 'config/values.ts']),
  // documents, XSD sets and rows that hold documents; queries run through the drivers of targets
  onNode(
    'inputs',
    ['yauzl', 'tar-stream', '@azure/storage-blob'],
    [
      'domain',
      'config',
      'storage/local',
      'storage/staging',
      'storage/object-store',
      'network',
      'process',
      'targets/sql/duckdb',
      'targets/sql/sqlite',
      'targets/sql/mysql',
      'targets/sql/postgres',
    ],
  ),
  { name: 'index.ts', values: ['*'], packages: [] },
  { name: 'register-target.ts', values: ['service/jobs', 'ports'], packages: [] },
  { name: 'testing.ts', values: ['testing'], packages: [] },
  { name: 'testing', values: ['ports'], packages: ['node:'] },
  { name: 'programs', values: ['*'], packages: [] },
  { name: 'runtime/cloudflare.ts', values: ['*'], packages: web },
  {
    name: 'runtime',
    values: ['*'],
    packages: ['node:', '@hono/node-server', 'postgres', 'jose', 'swagger-ui-dist', ...web],
  },
  onNode('runtime/system/otlp-tracer.ts', [
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
  ]),
  {
    name: 'tools',
    values: ['*'],
    packages: ['node:', 'postgres', '@azure/storage-blob', 'tar-stream', 'zod'],
  },
];

const domains = new Set(areas.map(({ name }) => name).filter((name) => name.startsWith('service/')));

/** The area of a path under src/: the longest name that fits. */
function areaOf(path: string): Area | undefined {
  return areas
    .filter(({ name }) => path === name || path.startsWith(`${name}/`))
    .toSorted((a, b) => b.name.length - a.name.length)[0];
}

function allows(names: readonly string[], target: Area): boolean {
  return (
    names.includes('*') ||
    names.includes(target.name) ||
    (names.includes('domain') && domains.has(target.name))
  );
}

/** The rule that an import breaks, in words; null when it breaks none. */
function brokenRule(path: string, specifier: string, typeOnly: boolean): string | null {
  const area = areaOf(path);
  if (area === undefined) return `${path}: no area of the layout; give it one in test/rules/imports.test.ts`;
  if (!specifier.startsWith('.')) {
    const allowed = area.packages.some((name) =>
      name === 'node:' ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
    );
    return allowed ? null : `${path}: ${area.name} must not import ${specifier}`;
  }
  if (!/\.(ts|json)$/.test(specifier)) return `${path}: ${specifier} needs its suffix .ts`;
  const targetPath = posix.join(posix.dirname(path), specifier);
  // what the program says of itself
  if (targetPath === '../package.json' && area.name.startsWith('runtime')) return null;
  const target = areaOf(targetPath);
  if (target === undefined) return `${path}: ${specifier} lies in no area of the layout`;
  if (target.name.startsWith('runtime') && !area.name.startsWith('runtime')) {
    return ['tools', 'programs'].includes(area.name)
      ? null
      : `${path}: nothing imports runtime (${targetPath})`;
  }
  if (target.name === area.name || allows(area.values, target) || area.values.includes(targetPath))
    return null;
  if (allows(area.types ?? [], target)) {
    return typeOnly ? null : `${path}: ${area.name} may import types of ${target.name} only (${targetPath})`;
  }
  return `${path}: ${area.name} must not import ${target.name} (${targetPath})`;
}

const modules = listFiles('src').filter((path) => path.endsWith('.ts'));

describe('import directions', () => {
  it('are kept by every module', () => {
    const broken = modules.flatMap((path) =>
      readImports(readText(path)).map(({ specifier, typeOnly }) =>
        brokenRule(path.slice('src/'.length), specifier, typeOnly),
      ),
    );
    expect(broken.filter((rule) => rule !== null)).toEqual([]);
    expect(broken.length).toBeGreaterThan(100);
  });

  it('name what is broken', () => {
    expect(brokenRule('engine/xml/tokens.ts', '../../ports/files.ts', true)).toBe(
      'engine/xml/tokens.ts: engine must not import ports (ports/files.ts)',
    );
    expect(brokenRule('engine/xml/tokens.ts', 'node:fs', false)).toBe(
      'engine/xml/tokens.ts: engine must not import node:fs',
    );
    expect(brokenRule('ports/job-store.ts', '../service/jobs/job.ts', false)).toBe(
      'ports/job-store.ts: ports may import types of service/jobs only (service/jobs/job.ts)',
    );
    expect(brokenRule('process/a.ts', '../postgres/b.ts', false)).toBe(
      'process/a.ts: process must not import postgres (postgres/b.ts)',
    );
    expect(brokenRule('http/run.ts', '../runtime/open.ts', false)).toBe(
      'http/run.ts: nothing imports runtime (runtime/open.ts)',
    );
    expect(brokenRule('service/jobs/job.ts', './other', false)).toBe(
      'service/jobs/job.ts: ./other needs its suffix .ts',
    );
    expect(brokenRule('service/jobs/submit.ts', '../../ports/job-store.ts', true)).toBeNull();
    expect(brokenRule('tools/xml2er.ts', '../targets/files/folder/sink.ts', false)).toBeNull();
  });

  it('see every way of importing', () => {
    const source = `
      /** import x from './comment.ts' */
      import './effect.ts';
      import type { A } from './types.ts';
      import b, { c,
        type D } from "./many.ts";
      import * as e from 'node:fs';
      export { f } from './again.ts';
      const g = await import('./lazy.ts');
      // import h from './line.ts'
    `;
    expect(readImports(source)).toEqual([
      { specifier: './effect.ts', typeOnly: false, reExport: false },
      { specifier: './types.ts', typeOnly: true, reExport: false },
      { specifier: './many.ts', typeOnly: false, reExport: false },
      { specifier: 'node:fs', typeOnly: false, reExport: false },
      { specifier: './again.ts', typeOnly: false, reExport: true },
      { specifier: './lazy.ts', typeOnly: false, reExport: false },
    ]);
  });
});

describe('re-exports', () => {
  it('are in the entries of the package alone', () => {
    const entries = ['src/index.ts', 'src/register-target.ts', 'src/runtime/node.ts', 'src/testing.ts'];
    const barrels = modules.filter(
      (path) => !entries.includes(path) && readImports(readText(path)).some(({ reExport }) => reExport),
    );
    expect(barrels).toEqual([]);
  });
});

describe('what runs without Node', () => {
  it('names nothing that only Node has', () => {
    // as Node's own modules: an area that may not import them runs on the edge and in browsers, too
    const portable = modules.filter((path) => {
      const area = areaOf(path.slice('src/'.length));
      return area !== undefined && area.name !== 'index.ts' && !area.packages.includes('node:');
    });
    const offenders = portable.filter((path) =>
      /(?<![.\w])(?:Buffer\.\w|process\.(?:arch|argv|cwd|emit|env|exit|hrtime|kill|memoryUsage|nextTick|on|pid|platform|std|uptime|version)|setImmediate\(|__dirname\b|__filename\b|NodeJS\.)/.test(
        withoutComments(readText(path)),
      ),
    );
    expect(offenders).toEqual([]);
    expect(portable.length).toBeGreaterThan(300);
  });
});

describe('the start of a tool', () => {
  /** What each loads once its arguments are understood, beside its session. */
  const work = {
    xsd2er: 'schemas/convert-xsd.ts',
    xml2er: 'convert/documents.ts',
    er2xml: 'write-back/convert-back.ts',
    unload: 'write-back/remove-documents.ts',
  };

  it.each(Object.entries(work))('loads no Zod: %s', (tool, path) => {
    const found = loadedWith([`cli/${tool}.ts`, 'session/tool-session.ts', path]);
    expect([...found].filter(([module]) => /^(?:zod|@hono\/)/.test(module))).toEqual([]);
    expect(found.size).toBeGreaterThan(200);
  });

  it.each(Object.keys(work))(
    'loads neither database nor engine nor packages before its arguments are understood: %s',
    (tool) => {
      const found = [...loadedWith([`cli/${tool}.ts`]).keys()];
      expect(found).toContain('src/service/jobs/request/read-request.ts');
      const early =
        /^src\/(?:metadb\/|postgres\/|storage\/|network\/|inputs\/|runtime\/|tools\/(?:session|load|inputs|convert|write-back)\/|engine\/(?:infer|map|unshred|xsd|xml)\/)|^(?!node:|src\/)/;
      expect(found.filter((path) => early.test(path))).toEqual([]);
      expect(found.length).toBeLessThan(80);
    },
  );
});

/** Modules and packages that are loaded with modules of `src/tools`, each with what imports it. */
function loadedWith(entries: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map(entries.map((entry) => [`src/tools/${entry}`, 'the start']));
  for (const [path] of found) {
    if (!path.startsWith('src/') || !path.endsWith('.ts')) continue;
    for (const specifier of startImports(readText(path))) {
      const imported = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
      if (!found.has(imported)) found.set(imported, path);
    }
  }
  return found;
}

/** What a module loads as it is loaded itself: neither types nor what `import()` brings later. */
function startImports(source: string): string[] {
  const later = new Set([...source.matchAll(/\bimport\(\s*'([^']+)'/g)].map(([, specifier]) => specifier!));
  return readImports(source)
    .filter(({ typeOnly, specifier }) => !typeOnly && !later.has(specifier))
    .map(({ specifier }) => specifier);
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}
