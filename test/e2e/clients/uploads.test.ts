/** What can be uploaded, alone and together; and requests that come again. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { tarGzipped, zipped } from '../../support/service/archives.ts';
import { execution, type RunAnswer } from '../../support/service/client.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { expectDocumentsIn, readSchema } from '../../support/service/schema.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const bytesOf = (index: number): Uint8Array => utf8.encode(freightDocuments[index]!.text);

describe('uploads and requests', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  it(
    'loads a tar.gz of XSD files with plain, gzipped and zipped documents into one target',
    needs('whole run'),
    async () => {
      const { client } = service;
      const xsdPath = await client.upload(
        'xsd',
        'freight.tar.gz',
        await tarGzipped(filesBelow(freightXsdFolder)),
      );
      const paths = [
        await client.upload('xml', 'manifest-1.xml', bytesOf(0)),
        await client.upload('xml', 'manifest-2.xml.gz', new Uint8Array(gzipSync(bytesOf(1)))),
        await client.upload(
          'xml',
          'both.zip',
          zipped([0, 2].map((at) => ({ name: `day/${freightDocuments[at]!.name}`, bytes: bytesOf(at) }))),
        ),
      ];
      const run = await client.run([
        execution('xsd2er', xsdPath),
        ...paths.map((path) => execution('xml2er', path, [['-o', 'metadb:parts']], '$0')),
      ]);
      expect(run.jobs).toHaveLength(4);
      const last = await client.ended(run.jobs[3]!);
      expect(last).toMatchObject({ status: 'C', msg_proc_qty: 2 });
      const [first, second, third] = freightDocuments;
      await expectDocumentsIn(sql, 'parts', await readSchema(client, last.id_sch!), [
        first!,
        second!,
        { ...first!, name: 'day/manifest-1.xml' },
        { ...third!, name: 'day/manifest-3.xml' },
      ]);
    },
  );

  it('runs a job again, and a repeated request once', async () => {
    const { client } = service;
    const path = await client.upload('xml', 'manifest-2.xml', bytesOf(1));
    const xsdPath = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const body = JSON.stringify({
      executions: [execution('xsd2er', xsdPath), execution('xml2er', path, [['-o', 'metadb:again']], '$0')],
    });
    const submit = (text: string): Promise<Response> => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'freight-2026-03-02' };
      return client.fetch('/v2/run/cmd', { method: 'POST', headers, body: text });
    };
    const answer = (await (await submit(body)).json()) as RunAnswer;
    const first = await client.ended(answer.jobs[1]!);
    expect(await (await submit(body)).json()).toEqual(answer);
    expect((await submit(body.replace('again', 'other'))).status).toBe(422);

    const path2 = `/v2/run/rerun/${first.id_job}`;
    expect((await client.fetch(path2, { method: 'HEAD' })).status).toBe(405);
    const rerun = await client.get<{ id_job: number; id_parent_job: number; cmds: string[]; jobs: number[] }>(
      path2,
    );
    expect(rerun).toEqual({
      error: false,
      id_job: rerun.jobs[0],
      id_parent_job: first.id_job,
      cmds: [`xml2er -j ${rerun.jobs[0]}`],
      jobs: [rerun.id_job],
    });
    const second = await client.ended(rerun.id_job);
    expect(second).toMatchObject({
      status: 'C',
      id_parent_job: first.id_job,
      id_sch: first.id_sch,
      id_lschma: first.id_lschma,
      parm_path_output: 'metadb:again',
    });
    expect(second.id_workflow).not.toBe(first.id_workflow);
    const document = freightDocuments[1]!;
    await expectDocumentsIn(sql, 'again', await readSchema(client, first.id_sch!), [document, document]);
  });

  it(
    'tells archives by their content where an upload has no name, or a misleading one',
    needs('whole run'),
    async () => {
      const { client } = service;
      const xsd = filesBelow(freightXsdFolder);
      const xml = [1, 2].map((at) => ({ name: freightDocuments[at]!.name, bytes: bytesOf(at) }));
      const packed = [
        [zipped(xsd), zipped(xml)],
        [await tarGzipped(xsd), await tarGzipped(xml)],
        [
          new Uint8Array(gunzipSync(await tarGzipped(xsd))),
          new Uint8Array(gunzipSync(await tarGzipped(xml))),
        ],
      ] as const;
      const uploads = [...packed.map((pair) => ({ name: '', pair })), { name: 'set', pair: packed[1] }];
      for (const [index, { name, pair }] of uploads.entries()) {
        const sqlSchema = `content_${index}`;
        const run = await client.run([
          execution('xsd2er', await client.upload('xsd', name, pair[0])),
          execution(
            'xml2er',
            await client.upload('xml', name, pair[1]),
            [['-o', `metadb:${sqlSchema}`]],
            '$0',
          ),
        ]);
        const job = await client.ended(run.jobs[1]!);
        expect(job, `${sqlSchema}: ${job.failure}`).toMatchObject({ status: 'C', msg_proc_qty: 2 });
      }
      const plain = await client.run([
        execution('xml2er', await client.upload('xml', '', bytesOf(0)), [['-o', 'metadb:content_plain']]),
        execution('xml2er', await client.upload('xml', '', new Uint8Array(gzipSync(bytesOf(0)))), [
          ['-o', 'metadb:content_gz'],
        ]),
      ]);
      expect((await client.ended(plain.jobs[1]!)).status).toBe('C');
    },
  );
});
