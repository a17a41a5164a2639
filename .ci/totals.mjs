/**
 * What the JSON reports of the test runs say: `failed REPORT` lists the files that failed, one a line; `totals RUN…` prints the last line of
 * the check, a RUN being `REPORT` or `REPORT,REPORT OF A SECOND TRY`. A run without a report has failed, and so has a file without tests.
 */
import { readFileSync } from 'node:fs';

const read = (name) => {
  try {
    return JSON.parse(readFileSync(name, 'utf8'));
  } catch {
    return null;
  }
};

/** Each test of a report by its file, its name and which of that name it is. */
const tests = ({ testResults }) =>
  testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }, at, all) => ({
      key: JSON.stringify([
        name,
        fullName,
        all.slice(0, at).filter((one) => one.fullName === fullName).length,
      ]),
      status,
    })),
  );

/** A file that failed as a whole: it could not be read, or a hook around its tests failed. */
const broken = ({ testResults }) =>
  testResults
    .filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    )
    .map(({ name }) => JSON.stringify([name]));

const passedIn = (report) =>
  tests(report)
    .filter(({ status }) => status === 'passed')
    .map(({ key }) => key);

const failedIn = (report) => [
  ...tests(report)
    .filter(({ status }) => status === 'failed')
    .map(({ key }) => key),
  ...broken(report),
];

/** The tests that passed, those that failed in the last try that had them, and those that only a second try passed. */
function outcome([first, second]) {
  if (first === null) return { passed: [], failed: ['the run'], late: [] };
  if (second === undefined || second === null)
    return { passed: passedIn(first), failed: failedIn(first), late: [] };
  const files = new Set(second.testResults.map(({ name }) => name));
  const asked = failedIn(first).filter((key) => files.has(JSON.parse(key)[0]));
  const passed = new Set(passedIn(second));
  const still = new Set(failedIn(second));
  // What failed first and was not asked again (left out by then, or skipped) has failed.
  const failed = [
    ...failedIn(first).filter((key) => !asked.includes(key)),
    ...still,
    ...asked.filter((key) => JSON.parse(key).length > 1 && !passed.has(key) && !still.has(key)),
  ];
  return {
    passed: [...passedIn(first), ...passed],
    failed,
    late: asked.filter((key) => !failed.includes(key)),
  };
}

const [what, ...names] = process.argv.slice(2);
if (what === 'failed') {
  const files = read(names[0])?.testResults.filter(({ status }) => status === 'failed') ?? [];
  process.stdout.write(files.map(({ name }) => `${name}\n`).join(''));
} else {
  const outcomes = names.map((run) => outcome(run.split(',').map(read)));
  const late = new Set(outcomes.flatMap((one) => one.late));
  for (const key of late)
    console.log(`passed only when tried again by itself: ${JSON.parse(key).slice(0, 2).join(' > ')}`);
  const passed = new Set(outcomes.flatMap((one) => one.passed)).size;
  const failed = outcomes.flatMap((one) => one.failed).length;
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
