/**
 * `npm run faults -- --cycles N [--parts N] [--seed N] [--fault TEXT]`: cycles of one fault each, out of kills and stalls of processes and servers, broken connections, full and
 * read-only disks and jumps of a clock, while two installations on one metadata database load eight kinds of targets. Prints a table, and ends with 1 when a document
 * was lost or doubled, or a job is stuck. `--parts` divides the cycles among so many scenes that run at a time. `--fault` takes the faults whose names contain the
 * text. SIGINT ends it after the cycles that run.
 *
 * `npm run faults -- [--rounds N] [--database-rounds N] [--mariadb-rounds N] [--sqlite-rounds N] [--lake-rounds N] [--megabytes N]`: kills the
 * parts of an installation under load, and the server that it loads, and counts what came of it. Ends with 1 when a row was lost or doubled, or a job is stuck.
 *
 * `npm run faults -- --figures [--kills N] [--followed N] [--takeovers N] [--variety N] [--flood N] [--database embedded|external|URL]
 * [--xsd FILE --document FILE]`: what is promised of kills, logs and dead workers, measured under default settings, on material of
 * your own (an XSD that needs no other file). Ends with 1 when a limit was broken.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { isHere } from '../../test/support/needs.ts';
import { mariadbParts } from '../../test/support/servers/mariadb.ts';
import { measureFigures } from './figures.ts';
import { lakeParts } from './lake/places.ts';
import { isSound, runMixes, tableOf } from './mix/run.ts';
import { runFaults } from './run.ts';
import { scriptOptions } from '../options.ts';

const values = scriptOptions(import.meta.filename, {
  cycles: { type: 'string' },
  parts: { type: 'string', default: '1' },
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  fault: { type: 'string', default: '' },
  rounds: { type: 'string', default: '200' },
  'database-rounds': { type: 'string', default: '50' },
  'mariadb-rounds': { type: 'string', default: '50' },
  'sqlite-rounds': { type: 'string', default: '50' },
  'lake-rounds': { type: 'string', default: '50' },
  megabytes: { type: 'string', default: '4' },
  figures: { type: 'boolean', default: false },
  kills: { type: 'string', default: '100' },
  followed: { type: 'string', default: '10' },
  takeovers: { type: 'string', default: '5' },
  variety: { type: 'string', default: '20' },
  flood: { type: 'string', default: '10000' },
  database: { type: 'string', default: 'embedded' },
  xsd: { type: 'string' },
  document: { type: 'string' },
  verbose: { type: 'boolean', default: false },
});

const folder = await mkdtemp(join(tmpdir(), 'faults-'));
let sound = true;
try {
  if (values.cycles !== undefined) {
    let isOver = false;
    process.on('SIGINT', () => (isOver = true));
    process.stdout.write(`--seed ${values.seed}\n`);
    const report = await runMixes(
      {
        cycles: Number(values.cycles),
        seed: Number(values.seed),
        fault: values.fault,
        folder,
        isOver: () => isOver,
        tell: (line) => void process.stdout.write(`${line}\n`),
      },
      Number(values.parts),
    );
    for (const skipped of report.skipped) process.stdout.write(`skipped ${skipped}\n`);
    process.stdout.write(`${tableOf(report)}\n`);
    if (report.error !== null) process.stdout.write(`${inspect(report.error)}\n`);
    sound = isSound(report);
  }
  if (values.figures)
    sound = await measureFigures({
      kills: Number(values.kills),
      followed: Number(values.followed),
      takeovers: Number(values.takeovers),
      variety: Number(values.variety),
      flood: Number(values.flood),
      database: values.database,
      megabytes: Number(values.megabytes),
      ...(values.xsd === undefined ? {} : { xsd: values.xsd }),
      ...(values.document === undefined ? {} : { document: values.document }),
      folder,
      tell: (line) => void process.stdout.write(`${line}\n`),
    });
  for (const [kind, name, rounds] of [
    ['processes', 'kill -9 or stop of worker, tool, service', Number(values.rounds)],
    ['database', 'kill -9 of the database', Number(values['database-rounds'])],
    [
      'mariadb',
      'kill -9 or restart of a MariaDB server that jobs load, or kill of what loads it',
      Number(values['mariadb-rounds']),
    ],
    ['sqlite', 'kill -9 or stop of what loads a SQLite file', Number(values['sqlite-rounds'])],
    [
      'lake',
      'kill -9 or stop of what fills tables of Delta and Iceberg, whose store fails now and then, while others write there',
      Number(values['lake-rounds']),
    ],
  ] as const) {
    if (values.cycles !== undefined || values.figures || rounds === 0) continue;
    if (kind === 'mariadb' && !mariadbParts.every(isHere)) {
      process.stdout.write('MariaDB: left out, as its server or its client is not here\n');
      continue;
    }
    const lacks = kind === 'lake' ? lakeParts.filter((part) => !isHere(part)) : [];
    if (lacks.length > 0) {
      process.stdout.write(`Delta and Iceberg: left out, as these are not here: ${lacks.join(', ')}\n`);
      continue;
    }
    process.stdout.write(`${name}:\n`);
    const counts = await runFaults({
      kind,
      rounds,
      megabytes: Number(values.megabytes),
      folder,
      tell: (line, number) => {
        if (values.verbose || number % 10 === 0) process.stdout.write(`  ${line}\n`);
      },
    });
    process.stdout.write(
      `  cycles ${counts.cycles}, jobs ${counts.jobs} (${counts.completed} completed, ${counts.failed} failed), rows lost ${counts.lost}, ` +
        `rows doubled ${counts.doubled}, jobs stuck ${counts.stuck}, submissions wrong ${counts.submissionsWrong}, processes left ${counts.leftProcesses}\n`,
    );
    sound &&=
      counts.lost + counts.doubled + counts.stuck + counts.submissionsWrong + counts.leftProcesses === 0;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = sound ? 0 : 1;
