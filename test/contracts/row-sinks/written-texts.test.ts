/** Columns of a folder that become text: files of earlier jobs are replaced, on this machine and in a store that is elsewhere. */
import { expect, test } from 'vitest';
import { jobMark } from '../../../src/targets/files/folder/place.ts';
import { uuidOfJob } from '../../support/models/job-names.ts';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import type { FileLayoutName } from '../../../src/ports/layouts.ts';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { folderReader } from './readers.ts';

const trial = useTrial();
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
  <xs:element name="row" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="note" type="xs:string"/><xs:element name="day" type="xs:date"/>
  <xs:element name="amount" type="xs:decimal"/><xs:element name="codes"><xs:simpleType><xs:list itemType="xs:string"/></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;
const model = modelOf(compiled(xsd), 3);

/** What a file of text could take for the end of a value, or of a row. */
const note = 'a, "b"\\N\n{"day":"x"}\t\\.:[1,{2}]';
const documentOf = (days: readonly string[]): Uint8Array =>
  bytesOf(
    `<r>${days.map((day) => `<row><note>${note}</note><day>${day}</day><amount>12345678901234567.8900</amount><codes>a,b "c" {d}</codes></row>`).join('')}</r>`,
  );
const jobs = [
  ['2021-01-01+02:00', '2021-01-02', '2021-01-03Z'],
  ['2022-01-01Z', '-0044-03-15', '2022-01-03-05:30'],
  ['2023-01-01+01:00'],
];

async function loadAll(sinkOf: (idJob: number) => RowSink): Promise<void> {
  for (const [at, days] of jobs.entries())
    await loadInto(sinkOf(at + 1), { model, idJob: at + 1 }, [documentOf(days)]);
}

test.each(['csv', 'tsv', 'jsonl', 'parquet'] as const)('of %s', async (format) => {
  const directory = await trial.folder('written-texts-');
  await loadAll(() => createFolderRowSink({ directory, format }));
  const rows = (await folderReader(directory, format).read('row'))!.toSorted(
    (a, b) => Number(a['row_key']) - Number(b['row_key']),
  );
  expect(rows.map(({ day }) => day)).toEqual(jobs.flat());
  // all else is as it was
  expect(new Set(rows.map((row) => row['note']))).toEqual(new Set([note]));
  expect(new Set(rows.map(({ codes }) => codes)).size).toBe(1);
  expect(rows.every(({ amount }) => amount!.startsWith('12345678901234567.89'))).toBe(true);
});

test.each(['csv', 'parquet'] as const)('of %s that are elsewhere', async (format: FileLayoutName) => {
  const files = createMemoryFileStore();
  const staging = await trial.folder('written-texts-');
  await loadAll((idJob) =>
    createObjectFolderRowSink({
      location: 's3://lake/days',
      objects: objectsIn(files),
      prefix: '1/out/',
      label: 'out',
      format,
      jobMark: jobMark(idJob, uuidOfJob(idJob)),
      scratch: staging,
      lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
    }),
  );
  const text = async (name: string): Promise<string> =>
    new Response(await files.read(`/memory/1/out/${name}`)).text();
  const manifest = JSON.parse(await text('manifest.json')) as TargetManifest;
  const table = manifest.tables.find(({ name }) => name === 'row')!;
  const names: string[] = [];
  for await (const { name } of files.listFiles('/memory/1/out'))
    if (name.startsWith('row.')) names.push(name);
  expect(names.toSorted()).toEqual(table.files.map(({ name }) => name).toSorted());
  expect(table.files.map(({ job }) => job)).toEqual([1, 2, 3]);
  if (format !== 'csv') return;
  const days = await Promise.all(
    table.files.map(async ({ name }) => (await text(name)).match(/-?\d{4}-\d\d-\d\d[^,]*/g)),
  );
  expect(days).toEqual(jobs);
});
