/** `scripts/bench/runs/xsd-compile.ts FOLDER ENTRY`: compiles the XSD files below a folder, from an entry; prints what came out as JSON. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';

const [folder, entry] = process.argv.slice(2) as [string, string];
const files = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.xsd'))
  .map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
const started = performance.now();
const { model, diagnostics } = compileXsdSet(files, { entries: [entry], missing: 'wildcard' });
const seconds = (performance.now() - started) / 1000;
const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
console.log(JSON.stringify({ seconds, files: files.length, types: model.types.length, errors }));
