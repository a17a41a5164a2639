/**
 * `npm run fuzz -- --target NAME --seconds N`: random inputs for as long as wanted.
 *
 *   --target NAME    what is fuzzed: tokenizer, xsd, documents, archives, options, svg, package, rest; may be given several
 *                    times (all)
 *   --seconds N      for each target (60)
 *   --seed N         the same seed makes the same inputs (one of the clock)
 *   --step N         only this input of the seed, as a finding names it
 *   --keep FOLDER    where inputs of findings are written, as small as they could be made (fuzz-findings)
 *   --go-on          does not stop at the first finding
 *
 * Exit code 1 when something is found. A step that takes minutes ends the run.
 */
import { fuzz } from '../test/fuzz/fuzzer.ts';
import { createHangWatch } from '../test/fuzz/hang-watch.ts';
import { fuzzTargets } from '../test/fuzz/targets/all.ts';
import { scriptOptions } from './options.ts';

const hangMs = 180_000;

const values = scriptOptions(import.meta.filename, {
  target: { type: 'string', multiple: true, default: Object.keys(fuzzTargets) },
  seconds: { type: 'string', default: '60' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  step: { type: 'string' },
  keep: { type: 'string', default: 'fuzz-findings' },
  'go-on': { type: 'boolean', default: false },
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
  const again = `npm run fuzz -- --target ${name} --seed ${values.seed} --step `;
  const watch = createHangWatch(hangMs, again);
  const run = await fuzz(target, {
    seconds,
    seed: Number(values.seed),
    keep: values.keep,
    goOn: values['go-on'],
    onStep: watch.onStep,
    ...(values.step === undefined ? {} : { step: Number(values.step) }),
  });
  await watch.close();
  await target.close();
  process.stdout.write(`${name}: ${run.steps} inputs, ${run.findings.length} findings\n`);
  for (const { step, finding } of run.findings) {
    process.stdout.write(`  ${finding.message.slice(0, 300)}\n    again: ${again}${step}\n`);
    process.exitCode = 1;
  }
}
