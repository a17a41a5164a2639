/** The main job in one deployment: uploads, a workflow, its rows, its log, and what can be done with jobs. */
import { describe, expect, it } from 'vitest';
import { readEvents, type ServerSentEvent } from '../../../scripts/demo/server-sent-events.ts';
import { execution, type JobAnswer, type Problem, type RunAnswer } from '../../support/service/client.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';
import { expectDocumentsIn, readSchema } from '../../support/service/schema.ts';
import type { Session } from './session.ts';

interface Page {
  readonly content: readonly { readonly id_job: number; readonly id_workflow: number }[];
  readonly total_elements: number;
}

export function conversionSuite(session: () => Session): void {
  describe('the main job', () => {
    it('ends with records that tell of one another', () => {
      const { conversion, idOrg } = session();
      const { compiled, loaded, idSch, idLschma, idWorkflow } = conversion;
      const common = { id_org: idOrg, id_sch: idSch, status: 'C', attempt: 1, id_workflow: idWorkflow };
      expect(compiled).toMatchObject({ ...common, job_type: 'Schema', msg_proc_qty: 3 });
      expect(loaded).toMatchObject({ ...common, id_lschma: idLschma, job_type: 'Parse', msg_proc_qty: 3 });
      expect(loaded.start_date).toBeGreaterThanOrEqual(compiled.end_date!);
      expect([loaded.failure, loaded.progress]).toEqual([null, 1]);
    });

    it('has every element and value of its documents in the rows', async () => {
      const { client, conversion, sql } = session();
      const view = await readSchema(client, conversion.idSch, conversion.idLschma);
      await expectDocumentsIn(sql, conversion.sqlSchema, view, freightDocuments);
    });

    it('is shown by its workflow, and in the lists of its organisation alone', async () => {
      const { client, conversion, stranger } = session();
      const { idWorkflow, compiled, loaded, name } = conversion;
      expect(await client.get(`/v2/workflow/${idWorkflow}`)).toMatchObject({
        name: `${name} workflow`,
        status: 'C',
        completed_count: 2,
        jobs: [compiled, loaded],
      });
      expect(await client.get(`/v2/workflow/getName/${idWorkflow}`)).toEqual({
        id: idWorkflow,
        name: `${name} workflow`,
      });
      for (const path of ['/v2/workflow/all', '/v2/workflow/all/0?size=500']) {
        const { content } = await client.get<Page>(path);
        expect(content.map((one) => one.id_workflow)).toContain(idWorkflow);
      }
      for (const path of [`/v2/executions/${idWorkflow}`, `/v2/executions/${idWorkflow}/0`])
        expect((await client.get<Page>(path)).content).toEqual([compiled, loaded]);
      for (const path of ['/v2/executions/all', '/v2/executions/all/0?size=500']) {
        const { content } = await client.get<Page>(path);
        expect(content.slice(-2)).toEqual([loaded, compiled]);
        expect(await stranger.get(path)).toMatchObject({ content: [], total_elements: 0 });
      }
    });

    it('gives its log by bytes, by its last lines, as text, and as events that resume', async () => {
      const { client, conversion } = session();
      const id = conversion.loaded.id_job;
      const text = await client.log(id);
      expect(text).toMatch(/loaded 3, unknown root 0, rejected 0/);
      const size = new TextEncoder().encode(text).byteLength;
      const whole = { id_job: id, status: 'C', total_size: size, next_offset: size, completed: true };
      expect(await client.get(`/v2/executions/log/${id}`)).toEqual({ ...whole, offset: 0, log: text });
      expect(await client.get(`/v2/executions/log/${id}?offset=0&limit=40`)).toMatchObject({
        log: text.slice(0, 40),
        next_offset: 40,
        completed: true,
      });
      expect(await client.get(`/v2/executions/log/${id}?tail=1`)).toMatchObject({
        log: `${text.trimEnd().split('\n').at(-1)}\n`,
      });
      const events = await follow(session(), id);
      expect(messages(events)).toBe(text);
      expect(JSON.parse(events.at(-1)!.data)).toEqual({ id_job: id, status: 'C' });
      expect(messages(await follow(session(), id, '40'))).toBe(text.slice(40));
    });
  });

  describe('a job', () => {
    it('is followed while it runs, to its end', async () => {
      const { client, conversion } = session();
      const { jobs } = await client.run([statistics(conversion.xmlPath, conversion.idSch)]);
      const events = await follow(session(), jobs[0]!);
      expect(events.at(-1)).toMatchObject({ event: 'end' });
      expect(JSON.parse(events.at(-1)!.data)).toEqual({ id_job: jobs[0], status: 'C' });
      expect(messages(events)).toBe(await client.log(jobs[0]!));
    });

    it('is made once for one idempotency key', async () => {
      const { client, conversion } = session();
      const request = (name: string): Promise<Response> =>
        client.fetch('/v2/run/cmd', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'one-and-the-same' },
          body: JSON.stringify({ name, executions: [statistics(conversion.xmlPath, conversion.idSch)] }),
        });
      const [first, again] = [await request('once'), await request('once')];
      expect([first.status, again.status]).toEqual([200, 200]);
      const answer = (await first.json()) as RunAnswer;
      expect(await again.json()).toEqual(answer);
      expect((await request('otherwise')).status).toBe(422);
      expect(await client.ended(answer.jobs[0]!)).toMatchObject({ status: 'C' });
    });

    it('is run again, once for two requests, and never by HEAD', async () => {
      const { client, conversion } = session();
      const { jobs } = await client.run([statistics(conversion.xmlPath, conversion.idSch)]);
      const original = await client.ended(jobs[0]!);
      const path = `/v2/run/rerun/${original.id_job}`;
      const before = (await client.get<Page>('/v2/executions/all')).total_elements;
      const head = await client.fetch(path, { method: 'HEAD' });
      expect(head.status).toBe(405);
      expect((await client.get<Page>('/v2/executions/all')).total_elements).toBe(before);
      const [first, second] = await Promise.all([
        client.get<{ id_job: number; id_parent_job: number }>(path),
        client.get<{ id_job: number }>(path),
      ]);
      expect(second.id_job).toBe(first.id_job);
      const again = await client.ended(first.id_job);
      expect(again).toMatchObject({ status: 'C', id_parent_job: original.id_job });
      expect(again.id_workflow).not.toBe(original.id_workflow);
      expect(again.params).toBe(original.params);
    });

    it('is killed before it starts; what ran before it keeps its result; removed, it is not there', async () => {
      const { client, conversion } = session();
      const one = statistics(conversion.xmlPath, conversion.idSch);
      const { jobs } = await client.run([one, one]);
      const [first, second] = jobs as [number, number];
      const kill = (id: number): Promise<{ status: number; body: JobAnswer }> =>
        client.post<JobAnswer>(`/v2/executions/kill/${id}`);
      expect(await kill(second)).toMatchObject({ status: 202, body: { id_job: second, status: 'K' } });
      expect(await kill(second)).toMatchObject({ status: 202, body: { status: 'K' } });
      expect(await client.ended(first)).toMatchObject({ status: 'C' });
      const remove = (): Promise<Response> => client.fetch(`/v2/executions/${second}`, { method: 'DELETE' });
      expect((await remove()).status).toBe(204);
      expect((await remove()).status).toBe(404);
      expect((await client.fetch(`/v2/executions/get/${second}`)).status).toBe(404);
    });

    it('loads into a target of its own, which is dropped with its rows when that is asked', async () => {
      const { client, conversion, sql, stranger } = session();
      const name = `${conversion.sqlSchema}_spare`;
      const { jobs } = await client.run([
        execution('xml2er', conversion.xmlPath, [['-o', `metadb:${name}`]], String(conversion.idSch)),
      ]);
      expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C' });
      const remove = (who: typeof client) => who.fetch(`/v2/target?name=${name}`, { method: 'DELETE' });
      expect((await remove(stranger)).status).toBe(404);
      expect((await sql`select 1 from ${sql(name)}._documents`).length).toBeGreaterThan(0);
      expect((await remove(client)).status).toBe(204);
      expect(await sql`select 1 from pg_namespace where nspname = ${name}`).toEqual([]);
      expect((await remove(client)).status).toBe(404);
    });

    it.each([
      ['an option that is none', [['--no-such-option', 'x']], undefined],
      ['a NUL in a value', [['-o', 'metadb:a\0b']], undefined],
      ['a schema of the service itself as target', [['-o', 'metadb:svc']], undefined],
      ['an origin that comes later', [['-e', 's']], '$1'],
    ] as const)('is refused for %s, and no other of its request is made', async (_, options, origin) => {
      const { client, conversion } = session();
      const before = (await client.get<Page>('/v2/executions/all')).total_elements;
      const refused = await client.post<Problem>('/v2/run/cmd', {
        executions: [
          execution('xml2er', conversion.xmlPath, [['-e', 's']]),
          execution('xml2er', conversion.xmlPath, options, origin),
        ],
      });
      expect(refused.status).toBe(400);
      expect(refused.body.errors[0]!.pointer).toMatch(/^\/executions\/1/);
      expect((await client.get<Page>('/v2/executions/all')).total_elements).toBe(before);
    });

    it('fails with line and column where its document is malformed', async () => {
      const { client } = session();
      const path = await client.upload('xml', 'broken.xml', new TextEncoder().encode('<a>\n<b></a>'));
      const { jobs } = await client.run([execution('xml2er', path)]);
      expect(await client.ended(jobs[0]!)).toMatchObject({
        status: 'F',
        failure: expect.stringMatching(/line 2, column \d+/),
      });
    });
  });
}

/** A job that reads documents and writes nothing but their statistics. */
function statistics(path: string, idSch: number): unknown {
  return execution('xml2er', path, [['-e', 's']], String(idSch));
}

async function follow({ client }: Session, idJob: number, after?: string): Promise<ServerSentEvent[]> {
  const response = await client.fetch(`/v2/executions/log/${idJob}`, {
    headers: { Accept: 'text/event-stream', ...(after === undefined ? {} : { 'Last-Event-ID': after }) },
  });
  expect(response.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
  const events: ServerSentEvent[] = [];
  for await (const event of readEvents(response.body!)) events.push(event);
  return events;
}

function messages(events: readonly ServerSentEvent[]): string {
  return events
    .filter(({ event }) => event === 'message')
    .map(({ data }) => data)
    .join('');
}
