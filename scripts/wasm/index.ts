/**
 * `npm run wasm`: compiles the AssemblyScript of the kernels into the modules that hold their bytes.
 * `-- --check`: only tells whether those modules are current; ends with 1 when one is not.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { HEAP_AT } from '../../src/engine/parquet/kernel/layout.ts';
import { HEAP_AT as CELLS_HEAP_AT } from '../../src/engine/parquet/reading/kernel/layout.ts';
import { FIELDS_AT } from '../../src/engine/records/kernel/layout.ts';
import { HEAP_AT as ELEMENTS_HEAP_AT } from '../../src/engine/unshred/kernel/layout.ts';
import { SCAN_KERNEL_BYTES } from '../../src/engine/xml/kernel/layout.ts';
import { cellsPrelude } from './cells-kernel.ts';
import { collectPrelude } from './collect-kernel.ts';
import { columnsPrelude } from './columns-kernel.ts';
import { elementsPrelude } from './elements-kernel.ts';
import { preludeText, type Prelude } from './prelude.ts';
import { recordsPrelude } from './records-kernel.ts';
import { rowsPrelude } from './rows-kernel.ts';
import { scanPrelude } from './scan-kernel.ts';
import { shredPrelude } from './shred-kernel.ts';

const { version: compilerVersion } = createRequire(import.meta.url)('assemblyscript/package.json') as {
  version: string;
};
const engine = join(import.meta.dirname, '../../src/engine');

interface Module {
  /** from src/engine */
  readonly folder: string;
  /** the file that has what is exported; of its name is the module that holds the bytes */
  readonly source: string;
  /** files that are compiled with it, as if they stood before it */
  readonly parts: readonly string[];
  /** constants that stand before all of them */
  readonly prelude: Prelude;
  /** what the module exports the bytes as */
  readonly constant: string;
  /** where the constants of the source lie in memory */
  readonly memoryBase: number;
}

const modules: readonly Module[] = [
  {
    folder: 'xml/kernel',
    source: 'scan',
    parts: ['bytes', 'decoding'],
    prelude: scanPrelude,
    constant: 'scanContentWasm',
    memoryBase: 4096,
  },
  {
    folder: 'shred/kernel',
    source: 'shred',
    parts: ['text', 'conversions', 'json-members', 'rows', 'part-keys', 'parts'],
    prelude: shredPrelude,
    constant: 'shredTapeWasm',
    memoryBase: SCAN_KERNEL_BYTES + 4096,
  },
  {
    folder: 'infer/kernel',
    source: 'collect',
    parts: ['values'],
    prelude: collectPrelude,
    constant: 'collectTapeWasm',
    memoryBase: SCAN_KERNEL_BYTES + 4096,
  },
  {
    folder: 'parquet/kernel',
    source: 'columns',
    parts: ['fields', 'numbers', 'calendar', 'dictionary', 'encodings', 'texts'],
    prelude: columnsPrelude,
    constant: 'readColumnsWasm',
    memoryBase: HEAP_AT / 2,
  },
  {
    folder: 'parquet/reading/kernel',
    source: 'cells',
    parts: ['values', 'encodings'],
    prelude: cellsPrelude,
    constant: 'readCellsWasm',
    memoryBase: CELLS_HEAP_AT / 2,
  },
  {
    folder: 'shred/row-tag/kernel',
    source: 'find-rows',
    parts: [],
    prelude: rowsPrelude,
    constant: 'findRowsWasm',
    memoryBase: 1024,
  },
  {
    folder: 'records/kernel',
    source: 'records',
    parts: ['bytes', 'json-values'],
    prelude: recordsPrelude,
    constant: 'splitRecordsWasm',
    memoryBase: FIELDS_AT / 2,
  },
  {
    folder: 'unshred/kernel',
    source: 'elements',
    parts: ['cells', 'tables', 'children'],
    prelude: elementsPrelude,
    constant: 'writeElementsWasm',
    memoryBase: ELEMENTS_HEAP_AT / 2,
  },
];

/** The text that is compiled: constants made of the layout, then the parts. */
function sourceText({ folder, source, parts, prelude }: Module): string {
  const files = [...parts, source].map((part) => readFileSync(join(engine, folder, `${part}.as`), 'utf8'));
  return [preludeText(prelude), ...files].join('\n');
}

const flags = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];

async function compile(module: Module): Promise<Uint8Array> {
  const { source, memoryBase } = module;
  const { default: asc } = await import('assemblyscript/asc');
  let wasm: Uint8Array | null = null;
  const { error, stderr } = await asc.main(
    [
      `${source}.ts`,
      '--outFile',
      `${source}.wasm`,
      '--importMemory',
      '--bindings',
      'raw',
      '--memoryBase',
      String(memoryBase),
      ...flags,
    ],
    {
      // the source has a suffix of its own: AssemblyScript is not TypeScript for the other tools of the project
      readFile: (name) => (name === `${source}.ts` ? sourceText(module) : null),
      writeFile: (name, contents) => {
        if (name === `${source}.wasm`) wasm = contents as Uint8Array;
      },
      listFiles: () => [],
    },
  );
  if (error !== null || wasm === null) throw new Error(`${String(error)}\n${stderr.toString()}`);
  return wasm;
}

/** Digests of what a module is compiled from, and of its bytes: with them a check needs no compilation. */
function digestsOf(module: Module, base64: string): string {
  const from = [sourceText(module), ...flags, module.memoryBase, compilerVersion].join('\n');
  return `sources ${sha256Of(from)}, bytes ${sha256Of(base64)}`;
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function moduleText(module: Module, base64: string): string {
  const { folder, source, constant } = module;
  return `/**
 * WebAssembly made of src/engine/${folder}/${source}.as by \`npm run wasm\`, as base64.
 * ${digestsOf(module, base64)}
 */
export const ${constant} =
  '${base64}';
`;
}

for (const module of modules) {
  const target = join(engine, module.folder, `${module.source}-wasm.ts`);
  if (!process.argv.includes('--check')) {
    writeFileSync(target, moduleText(module, Buffer.from(await compile(module)).toString('base64')));
    continue;
  }
  const text = readFileSync(target, 'utf8');
  if (text !== moduleText(module, /'(.*)'/.exec(text)?.[1] ?? '')) {
    console.error(`${basename(target)} is not what ${module.source}.as gives: npm run wasm`);
    process.exitCode = 1;
  }
}
