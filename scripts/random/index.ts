/**
 * `npm run random -- --sets N --documents N --seed N`: random XSD sets with random documents, loaded and written back, and checked by an
 * oracle that shares no code with the engine.
 *
 *   --sets N        sets (20)
 *   --documents N   documents of each set (28)
 *   --seed N        the same seed makes the same sets (one of the clock)
 *   --from N        number of the first set (0)
 *   --only N        this set alone, as a finding names it
 *   --targets N     one set of N goes through real targets as well: SQLite, DuckDB, TSV, JSON Lines, Parquet (40; 0: none)
 *   --keep FOLDER   where sets with findings are written (a temporary folder)
 *
 * Exit code 1 when something is found.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from '../options.ts';
import { checkSet, makeSet } from './set.ts';
import { createTargetTrial } from './targets.ts';
import { writeTexts } from './xmllint.ts';

const values = scriptOptions(import.meta.filename, {
  sets: { type: 'string', default: '20' },
  documents: { type: 'string', default: '28' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  from: { type: 'string', default: '0' },
  only: { type: 'string' },
  targets: { type: 'string', default: '40' },
  keep: { type: 'string' },
});

const count = Number(values.documents);
const seed = Number(values.seed);
const first = Number(values.only ?? values.from);
const last = values.only === undefined ? first + Number(values.sets) : first + 1;
const every = values.only === undefined ? Number(values.targets) : 1;
if (![count, seed, first, last, every].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  process.stderr.write('the options take whole numbers\n');
  process.exit(2);
}
const trial = createTargetTrial();
const kept = { folder: values.keep, found: 0, validated: 0 };
process.stdout.write(`seed ${seed}: sets ${first} to ${last - 1} with ${count} documents each\n`);
for (let number = first; number < last; number += 1) {
  const set = makeSet(seed, number, count);
  // a later version changes the terms of the set: targets come before it
  const inTargets =
    every > 0 && number % every === 0
      ? await trial.check(set).catch((error: Error) => [error.stack ?? error.message])
      : [];
  const { faults, validated } = await checkSet(makeSet(seed, number, count));
  const all = [...faults, ...inTargets.map((text) => `in targets: ${text}`)];
  if (validated) kept.validated += 1;
  if (all.length > 0) {
    kept.found += 1;
    kept.folder ??= mkdtempSync(join(tmpdir(), 'random-findings-'));
    const folder = join(kept.folder, `${seed}-${number}`);
    const documents = set.documents.map((text, at) => [`documents/${at + 1}.xml`, text] as const);
    writeTexts(folder, { ...set.files, ...Object.fromEntries(documents), 'findings.txt': all.join('\n') });
    process.stdout.write(
      `set ${number}: ${all.slice(0, 3).join('\n  ')}\n  files: ${folder}\n  again: npm run random -- --seed ${seed} --documents ${count} --only ${number}\n`,
    );
  }
  if ((number + 1) % 100 === 0) process.stdout.write(`${number + 1} sets, findings in ${kept.found}\n`);
}
await trial.close();
process.stdout.write(
  `${last - first} sets, ${(last - first) * count} documents, findings in ${kept.found} sets; xmllint took ${kept.validated} sets\n`,
);
if (kept.found > 0) process.exitCode = 1;
