/** Answers stay bounded where there is much: 10,000 jobs, a schema of 500 tables and 20,000 mappings. Sizes, never times. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey } from '../../../src/service/access/keys.ts';
import { createPackageAssetStore } from '../../../src/runtime/package-asset-store.ts';
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/properties.ts';
import { allScopes } from '../../../src/ports/stores/access.ts';
import { openInstallation, type OpenedInstallation } from '../../../src/runtime/open-installation.ts';
import { largeModel } from '../../support/models/large.ts';
import { createMemoryAdapters } from '../../support/memory/adapters.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

const jobCount = 10_000;
const tableCount = 500;
const fieldCount = 37;

interface Paged {
  readonly content: readonly Record<string, unknown>[];
  readonly page: number;
  readonly size: number;
  readonly total_elements: number;
  readonly total_pages: number;
}

describe('much data', { timeout: 120_000, ...needs('whole run') }, () => {
  const trial = useTrial();
  let database: TestDatabase;
  let folder: string;
  let opened: OpenedInstallation;
  let send: (path: string, init?: RequestInit) => Promise<Response>;
  let idSch: number;
  let mappingCount: number;

  beforeAll(async () => {
    database = await trial.emptyDatabase();
    folder = await trial.folder('large-data-');
    opened = await openInstallation(
      { SVC_HOME: folder, SVC_METADB_URL: database.url },
      { role: 'service', write: () => undefined },
    );
    const { catalog, access } = opened.adapters;
    const { source, model } = largeModel(tableCount, fieldCount);
    const origin = { idOrg: 1, idParentSch: null, idJob: null, name: 'large', files: [] };
    ({ id_sch: idSch } = await catalog.createOrigin({ ...origin, sourceType: 'xsd', model: source }));
    const { idLschma } = await catalog.createLogicalSchema(1, idSch, model, null);
    mappingCount = (await catalog.findOrigin(1, idSch))!.mapping_count;

    const { sql } = database;
    const tables = JSON.stringify({ tables: Object.fromEntries(model.tables.map(({ name }) => [name, 3])) });
    await sql`insert into svc.workflow (id_org, name) select 1, 'w' || n from generate_series(1, ${jobCount / 2}) n`;
    await sql.begin(async (tx) => {
      // as they would be left by workers; their ways through the states have tests of their own
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into svc.job (id_org, id_workflow, position, job_type, tool, status, ready, params, params_json, request, summary,
                             id_sch, id_lschma, start_date, end_date, deadline, max_attempts, attempts, output_path)
        select 1, (n + 1) / 2, (n + 1) % 2, 'Parse', 'xml2er', 'C', true, repeat('p', 200), '{"spark":{},"action":{"out":"metadb:l"}}', '{}',
               case when n % 100 = 0 then ${tables} else '{"documents":1}' end,
               ${idSch}, ${idLschma}, now(), now(), now(), 3, 1, 'metadb:l'
          from generate_series(1, ${jobCount}) n`;
    });
    await sql`analyze`;
    const config = readConfig({
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
    });
    const app = createApp(
      { ...createMemoryAdapters(), assets: createPackageAssetStore(), ...opened.adapters },
      config,
    );
    const { key } = await issueKey(access, { idOrg: 1, name: 'test', scopes: allScopes, expiresAt: null });
    send = async (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('Authorization', `Bearer ${key}`);
      return await app.request(path, { ...init, headers });
    };
  });

  afterAll(async () => {
    await opened?.close();
  });

  it.each([
    ['/v2/executions/all', jobCount],
    ['/v2/workflow/all', jobCount / 2],
    ['/v2/extensions/cil/jobs', jobCount],
  ])('%s is read page by page, each record once', async (path, total) => {
    const first = (await (await send(path)).json()) as Paged;
    expect([first.content.length, first.total_elements]).toEqual([20, total]);
    const seen = new Set<unknown>();
    for (let page = 0; page < total / 500; page += 1) {
      const text = await (await send(`${path}/${page}?size=500`)).text();
      expect(text.length).toBeLessThan(500 * 1500);
      const one = JSON.parse(text) as Paged;
      expect([one.page, one.size, one.total_pages, one.content.length]).toEqual([
        page,
        500,
        total / 500,
        500,
      ]);
      for (const record of one.content) seen.add(record['id_job'] ?? record['pid'] ?? record['id_workflow']);
    }
    expect(seen.size).toBe(total);
    const past = (await (await send(`${path}/${total / 500}?size=500`)).json()) as Paged;
    expect(past.content).toEqual([]);
    expect((await send(`${path}?size=501`)).status).toBe(400);
  });

  it('the map is whole, and comes in pieces of bounded size', async () => {
    expect(mappingCount).toBeGreaterThanOrEqual(20_000);
    for (const path of [`/v2/mapping/get/${idSch}`, `/v2/mapping/get_stats/${idSch}`]) {
      const reader = (await send(path)).body!.getReader();
      const pieces: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value as Uint8Array);
      }
      expect(pieces.length).toBeGreaterThan(10);
      expect(Math.max(...pieces.map((piece) => piece.byteLength))).toBeLessThan(80 * 1024);
      const lines = JSON.parse(Buffer.concat(pieces).toString()) as { readonly xpath: string | null }[];
      const own = lines.filter(({ xpath }) => xpath === null).length;
      expect(lines.length).toBeGreaterThanOrEqual(mappingCount - own - 4 * tableCount);
    }
  });

  it('keys are read page by page; tables, lineage and sequences are one line each', async () => {
    const keys = (await (await send('/v2/extensions/cil/keys/large/0?size=500')).json()) as Paged;
    expect([keys.content.length, keys.total_elements]).toEqual([500, 2 * tableCount]);
    const list = async (path: string): Promise<unknown[]> =>
      (await (await send(`/v2/extensions/cil/${path}`)).json()) as unknown[];
    expect(await list('mapping/large')).toHaveLength(tableCount);
    expect(await list('mappings')).toHaveLength(tableCount);
    expect(await list('sequences')).toHaveLength(tableCount);
    expect((await list('lineage/large/record7')).length).toBeLessThan(50);
    const [first] = (await list('mapping/large')) as { readonly rows: number }[];
    expect(first!.rows).toBe((3 * jobCount) / 100);
  });

  it('a drawing of 500 tables is made, kept and given again', async () => {
    const path = `/v2/diagram/get/${idSch}`;
    const svg = await (await send(path, { headers: { Accept: 'image/svg+xml' } })).text();
    // the tables, and `_documents`, which their rows point to
    expect(svg.match(/<g><rect/g)).toHaveLength(tableCount + 1);
    expect(svg.length).toBeGreaterThan(1024 * 1024);
    const saved = await send('/v2/diagram/svg', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id_sch: idSch, svg }),
    });
    expect(saved.status).toBe(200);
    expect(await (await send(path, { headers: { Accept: 'image/svg+xml' } })).text()).toBe(svg);
    const large = await send('/v2/diagram/svg', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id_sch: idSch, svg: 'x'.repeat(8 * 1024 * 1024) }),
    });
    expect(large.status).toBe(413);
  });

  it('an XLSX of 20,000 lines opens with all of them', async () => {
    const csv = await (await send(`/v2/mapping/download/${idSch}?format=csv`)).text();
    expect(csv.trimEnd().split('\r\n')).toHaveLength(mappingCount + 1);
    const xlsx = new Uint8Array(await (await send(`/v2/mapping/download/${idSch}`)).arrayBuffer());
    expect([...xlsx.subarray(0, 2)]).toEqual([0x50, 0x4b]);
    expect(xlsx.byteLength).toBeLessThan(4 * 1024 * 1024);
  });

  it('a request for too many records is refused, the rest as in small', async () => {
    const ddl = await (await send(`/v2/schema/ddl/${idSch}`)).text();
    expect(ddl.match(/^CREATE TABLE "record/gm)).toHaveLength(tableCount - 1);
    const schema = (await (await send(`/v2/schema/${idSch}`)).json()) as { readonly table_count: number };
    expect(schema.table_count).toBe(tableCount);
    const all = await (await send('/v2/schema/all')).text();
    expect(all.length).toBeLessThan(4096);
  });
});
