/**
 * `npm run wasm`: compiles the AssemblyScript of the tokeniser's kernel into the module that holds its bytes.
 * `-- --check`: only tells whether that module is current; ends with 1 when it is not.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import asc from 'assemblyscript/asc';

const folder = join(import.meta.dirname, '../src/engine/xml/wasm');
const source = 'scan-content';
const target = join(folder, `${source}-wasm.ts`);

const flags = [
  '-O3',
  '--converge',
  '--noAssert',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--memoryBase',
  '4096',
];

async function compile(): Promise<Uint8Array> {
  let wasm: Uint8Array | null = null;
  const { error, stderr } = await asc.main(
    [`${source}.ts`, '--outFile', `${source}.wasm`, '--importMemory', '--bindings', 'raw', ...flags],
    {
      // the source has a suffix of its own: AssemblyScript is not TypeScript for the other tools of the project
      readFile: (name) =>
        name === `${source}.ts` ? readFileSync(join(folder, `${source}.as`), 'utf8') : null,
      writeFile: (name, contents) => {
        if (name === `${source}.wasm`) wasm = contents as Uint8Array;
      },
      listFiles: () => [],
    },
  );
  if (error !== null || wasm === null) throw new Error(`${String(error)}\n${stderr.toString()}`);
  return wasm;
}

function moduleText(wasm: Uint8Array): string {
  return `/** WebAssembly made of ${source}.as by \`npm run wasm\`, as base64. */
export const scanContentWasm =
  '${Buffer.from(wasm).toString('base64')}';
`;
}

const text = moduleText(await compile());
if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error(`${basename(target)} is not what ${source}.as gives: npm run wasm`);
  process.exitCode = 1;
}
