/**
 * `npm run fuzz -- --target NAME --seconds N`: random inputs for as long as wanted.
 *
 *   --target NAME    what is fuzzed: tokenizer, xsd, documents, archives, options, svg, package, rest; may be given several
 *                    times (all)
 *   --seconds N      for each target (60)
 *   --seed N         the same seed makes the same inputs (one of the clock)
 *   --keep FOLDER    where inputs of findings are written (fuzz-findings)
 *   --go-on          does not stop at the first finding
 *
 * Exit code 1 when something is found.
 */
import { parseArgs } from 'node:util';
import { fuzz } from '../test/fuzz/fuzzer.ts';
import { fuzzTargets } from '../test/fuzz/targets.ts';

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: Object.keys(fuzzTargets) },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    keep: { type: 'string', default: 'fuzz-findings' },
    'go-on': { type: 'boolean', default: false },
  },
});

for (const name of values.target) {
  const create = Object.hasOwn(fuzzTargets, name) ? fuzzTargets[name] : undefined;
  const seconds = Number(values.seconds);
  if (create === undefined || !(seconds > 0)) {
    process.stderr.write(
      `--target is one of ${Object.keys(fuzzTargets).join(', ')}; --seconds is a number\n`,
    );
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
