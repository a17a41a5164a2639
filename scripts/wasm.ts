/**
 * `npm run wasm`: compiles the AssemblyScript of the kernels of tokeniser and shredder into the modules that hold their bytes.
 * `-- --check`: only tells whether those modules are current; ends with 1 when one is not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import asc from 'assemblyscript/asc';
import { SCAN_KERNEL_BYTES } from '../src/engine/xml/kernel/instance.ts';

const engine = join(import.meta.dirname, '../src/engine');

interface Module {
  /** from src/engine */
  readonly folder: string;
  readonly source: string;
  /** what the module exports the bytes as */
  readonly constant: string;
  /** where the constants of the source lie in memory */
  readonly memoryBase: number;
}

const modules: readonly Module[] = [
  { folder: 'xml/kernel', source: 'scan', constant: 'scanContentWasm', memoryBase: 4096 },
  {
    folder: 'shred/kernel',
    source: 'shred',
    constant: 'shredTapeWasm',
    memoryBase: SCAN_KERNEL_BYTES + 4096,
  },
  {
    folder: 'infer/kernel',
    source: 'collect',
    constant: 'collectTapeWasm',
    memoryBase: SCAN_KERNEL_BYTES + 4096,
  },
];

const flags = ['-O3', '--converge', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];

async function compile({ folder, source, memoryBase }: Module): Promise<Uint8Array> {
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
      readFile: (name) =>
        name === `${source}.ts` ? readFileSync(join(engine, folder, `${source}.as`), 'utf8') : null,
      writeFile: (name, contents) => {
        if (name === `${source}.wasm`) wasm = contents as Uint8Array;
      },
      listFiles: () => [],
    },
  );
  if (error !== null || wasm === null) throw new Error(`${String(error)}\n${stderr.toString()}`);
  return wasm;
}

function moduleText({ folder, source, constant }: Module, wasm: Uint8Array): string {
  return `/** WebAssembly made of src/engine/${folder}/${source}.as by \`npm run wasm\`, as base64. */
export const ${constant} =
  '${Buffer.from(wasm).toString('base64')}';
`;
}

for (const module of modules) {
  const target = join(engine, module.folder, `${module.source}-wasm.ts`);
  const text = moduleText(module, await compile(module));
  if (!process.argv.includes('--check')) {
    writeFileSync(target, text);
  } else if (readFileSync(target, 'utf8') !== text) {
    console.error(`${basename(target)} is not what ${module.source}.as gives: npm run wasm`);
    process.exitCode = 1;
  }
}
