/**
 * What the JSON reports of the test runs, and what the runs printed (REPORT.log), say. `failed REPORT` lists the files that failed or let an
 * error go unhandled, one a line; `reasons REPORT` prints what failed and why; `totals RUN…` prints the last line of the check, a RUN being
 * `REPORT` or `REPORT,REPORT OF A SECOND TRY`. A run without a report has failed, and so has a file without tests.
 */
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

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

/** What a run printed of errors that no test caught: the reports leave them out, though the run fails of them. */
function unhandled(name) {
  let printed = '';
  try {
    printed = stripVTControlCharacters(readFileSync(`${name}.log`, 'utf8'));
  } catch {
    return '';
  }
  const from = printed.indexOf(' Unhandled Error');
  return from === -1 ? '' : printed.slice(printed.lastIndexOf('\n', from) + 1);
}

const origin = /This error originated in "([^"]+)" test file/gu;

/** The files that failed, and those in which an error arose that no test caught. */
function failedFiles(name) {
  const files = read(name)?.testResults.filter(({ status }) => status === 'failed') ?? [];
  const ofErrors = [...unhandled(name).matchAll(origin)].map(([, file]) => file);
  return new Set([...files.map((file) => file.name), ...ofErrors]);
}

function reasons(name) {
  const report = read(name);
  if (report === null) return [`${name}: the run left no report`];
  const ofTests = report.testResults.flatMap(({ name: file, assertionResults, message }) => [
    ...(message ? [`${file}: ${message}`] : []),
    ...assertionResults
      .filter(({ status }) => status === 'failed')
      .map(({ fullName, failureMessages }) => `${file} > ${fullName}\n${failureMessages.join('\n')}`),
  ]);
  return [...ofTests, unhandled(name)]
    .filter((reason) => reason !== '')
    .map((reason) => reason.slice(0, 4000));
}

const [what, ...names] = process.argv.slice(2);
if (what === 'failed') {
  process.stdout.write([...failedFiles(names[0])].map((file) => `${file}\n`).join(''));
} else if (what === 'reasons') {
  console.log(reasons(names[0]).join('\n\n'));
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
