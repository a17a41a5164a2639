/**
 * `npm run fuzz -- --target tokenizer|xsd|rest --seconds N`: random inputs for as long as wanted.
 *
 *   --target NAME    what is fuzzed; may be given several times (all)
 *   --seconds N      for each target (60)
 *   --seed N         the same seed makes the same inputs (one of the clock)
 *   --keep FOLDER    where inputs of findings are written (fuzz-findings)
 *   --go-on          does not stop at the first finding
 *
 * Exit code 1 when something is found.
 */
import { parseArgs } from 'node:util';
import { fuzz, type FuzzTarget } from '../test/fuzz/fuzzer.ts';
import { createRestTarget } from '../test/fuzz/rest-target.ts';
import { createTokenizerTarget } from '../test/fuzz/tokenizer-target.ts';
import { createXsdTarget } from '../test/fuzz/xsd-target.ts';

const targets: Readonly<Record<string, () => FuzzTarget | Promise<FuzzTarget>>> = {
  tokenizer: createTokenizerTarget,
  xsd: createXsdTarget,
  rest: createRestTarget,
};

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: Object.keys(targets) },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    keep: { type: 'string', default: 'fuzz-findings' },
    'go-on': { type: 'boolean', default: false },
  },
});

for (const name of values.target) {
  const create = Object.hasOwn(targets, name) ? targets[name] : undefined;
  const seconds = Number(values.seconds);
  if (create === undefined || !(seconds > 0)) {
    process.stderr.write('--target is tokenizer, xsd or rest; --seconds is a number\n');
    process.exitCode = 2;
    break;
  }
  const target = await create();
  process.stdout.write(`${name}: seed ${values.seed}, ${seconds} s\n`);
  const options = { seconds, seed: Number(values.seed), keep: values.keep, goOn: values['go-on'] };
  const run = await fuzz(target, options);
  await target.close();
  process.stdout.write(`${name}: ${run.steps} inputs, ${run.findings.length} findings\n`);
  for (const finding of run.findings) {
    process.stdout.write(`  ${finding.message.slice(0, 300)}\n`);
    process.exitCode = 1;
  }
}
