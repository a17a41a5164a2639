/** Schemas, mappings and diagrams in one deployment. */
import { describe, expect, it } from 'vitest';
import { execution, type MappingAnswer, type SchemaAnswer } from '../../support/service/client.ts';
import { dialectNames } from '../../../src/engine/sql/dialects/every-dialect.ts';
import type { Session } from './session.ts';

export function catalogueSuite(session: () => Session): void {
  describe('a schema', () => {
    it('is listed, read, and written as DDL of every dialect', async () => {
      const { client, conversion } = session();
      const { idSch, idLschma } = conversion;
      const schema = await client.get<SchemaAnswer & { tables: { name: string }[] }>(`/v2/schema/${idSch}`);
      expect(schema).toMatchObject({
        id_lschma: idLschma,
        name: conversion.name,
        version: 1,
        source_type: 'xsd',
        root_elements: ['manifest'],
        target_namespace: 'urn:example:freight',
      });
      expect(await client.get(`/v2/schema/${idSch}?id_lschma=${idLschma}`)).toEqual(schema);
      const listed = await client.get<SchemaAnswer[]>('/v2/schema/all');
      expect(listed.map(({ id_sch: id }) => id)).toContain(idSch);
      const tables = new Set(
        (await client.get<MappingAnswer[]>(`/v2/mapping/get/${idSch}`)).map((one) => one.table_name),
      );
      expect(tables.size).toBe(schema.table_count);
      for (const dialect of dialectNames) {
        const response = await client.fetch(`/v2/schema/ddl/${idSch}?dialect=${dialect}`);
        expect([dialect, response.headers.get('Content-Type')]).toEqual([
          dialect,
          expect.stringMatching(/^text\/plain/),
        ]);
        const ddl = (await response.text()).toLowerCase();
        for (const table of tables)
          expect([dialect, table, ddl.includes(table)]).toEqual([dialect, table, true]);
      }
    });

    it('has a next version: made by a request where that can be isolated, by a job anywhere', async () => {
      const { client, conversion, supports } = session();
      const { idSch, xsdPath, name } = conversion;
      const created = await client.post<SchemaAnswer & { code: string }>('/v2/schema/create', {
        name,
        xsd: [xsdPath],
        map_level: 1,
        id_parent_sch: idSch,
      });
      if (!supports('createSchema'))
        expect([created.status, created.body.code]).toEqual([501, 'runtime_unsupported']);
      else expect(created).toMatchObject({ status: 201, body: { version: 2, name, map_level: 1 } });
      const { jobs } = await client.run([
        execution('xsd2er', xsdPath, [
          ['--parent', String(idSch)],
          ['-g', '0'],
        ]),
      ]);
      expect(await client.ended(jobs[0]!)).toMatchObject({ status: 'C' });
      const family = await client.get<SchemaAnswer[]>(`/v2/schema/family/${idSch}`);
      const versions = supports('createSchema') ? [1, 2, 3] : [1, 2];
      expect(family.map(({ version }) => version)).toEqual(versions);
      expect(family[0]!.id_sch).toBe(idSch);
    });

    it('tells where it was put', async () => {
      const { client, conversion, prefix, supports } = session();
      if (!supports('createSchema')) return;
      const response = await client.fetch('/v2/schema/create', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'put somewhere', xsd: [conversion.xsdPath] }),
      });
      const { id_sch: id } = (await response.json()) as SchemaAnswer;
      const location = new URL(response.headers.get('Location')!, `http://host${prefix}/v2/schema/create`);
      expect(location.pathname).toBe(`${prefix}/v2/schema/${id}`);
      expect((await client.fetch(`/v2/schema/${id}`, { method: 'DELETE' })).status).toBe(204);
      expect((await client.fetch(`/v2/schema/${id}`)).status).toBe(404);
    });

    it('is removed with its family’s other versions left as they are', async () => {
      const { client, conversion } = session();
      const family = await client.get<SchemaAnswer[]>(`/v2/schema/family/${conversion.idSch}`);
      const { id_sch: newest } = family.at(-1)!;
      expect((await client.fetch(`/v2/schema/${newest}`, { method: 'DELETE' })).status).toBe(204);
      expect((await client.fetch(`/v2/schema/${newest}`, { method: 'DELETE' })).status).toBe(404);
      expect(await client.get(`/v2/schema/family/${conversion.idSch}`)).toEqual(family.slice(0, -1));
    });
  });

  describe('a map', () => {
    it('is switched, and the next model follows: identical input makes no new one', async () => {
      const { client, conversion } = session();
      const { idSch, idLschma } = conversion;
      const newest = async (): Promise<number> =>
        (await client.get<SchemaAnswer>(`/v2/schema/${idSch}`)).id_lschma!;
      expect((await client.fetch(`/v2/schema/generate/${idSch}`)).status).toBe(200);
      expect(await newest()).toBe(idLschma);
      const off = await client.post('/v2/mapping/deactivate', { id_sch: idSch, xpaths: ['/manifest/note'] });
      expect(off).toMatchObject({ status: 200, body: { id_sch: idSch } });
      expect((await client.fetch(`/v2/schema/generate/${idSch}`, { method: 'HEAD' })).status).toBe(405);
      expect(await newest()).toBe(idLschma);
      expect((await client.fetch(`/v2/schema/generate/${idSch}`)).status).toBe(200);
      const without = await newest();
      expect(without).not.toBe(idLschma);
      const paths = (await client.get<MappingAnswer[]>(`/v2/mapping/get/${idSch}`))
        .filter(({ table_name: table }) => table === 'note')
        .map(({ xpath }) => xpath);
      expect(paths).toEqual([]);
      expect(
        await client.post('/v2/mapping/activate', { id_sch: idSch, xpaths: ['/manifest/note'] }),
      ).toMatchObject({ status: 200, body: { inactive_count: 0 } });
      await client.get(`/v2/schema/get/max/length/${idSch}`);
      expect((await client.fetch(`/v2/schema/generate/${idSch}/12`)).status).toBe(200);
      const short = await client.get<{ max_length: number; longest_name: string }>(
        `/v2/schema/get/max/length/${idSch}`,
      );
      expect(short.max_length).toBe(12);
      expect(short.longest_name.length).toBeLessThanOrEqual(12);
      expect((await client.fetch(`/v2/schema/generate/${idSch}/11`)).status).toBe(400);
    });

    it('is switched whole or not at all', async () => {
      const { client, conversion } = session();
      const { idSch } = conversion;
      const mappings = await client.get<(MappingAnswer & { active: boolean })[]>(`/v2/mapping/get/${idSch}`);
      const key = mappings.find((one) => one.key === 'PK')!;
      const leaf = mappings.find(({ xpath }) => xpath === '/manifest/@number')!;
      for (const [body, status] of [
        [{ id_sch: idSch, ids: [leaf.id_map, 4_000_000_000] }, 404],
        [{ id_sch: idSch, xpaths: ['/manifest/@number', '/nowhere'] }, 404],
        [{ id_sch: idSch, ids: [leaf.id_map, key.id_map] }, 409],
      ] as const)
        expect((await client.post('/v2/mapping/deactivate', body)).status).toBe(status);
      expect(await client.get(`/v2/mapping/get/${idSch}`)).toEqual(mappings);
    });

    it('is compared with another, and with itself', async () => {
      const { client, conversion } = session();
      const family = await client.get<SchemaAnswer[]>(`/v2/schema/family/${conversion.idSch}`);
      const { jobs } = await client.run([
        execution('xsd2er', conversion.xsdPath, [
          ['--name', 'flat'],
          ['-g', '0'],
        ]),
      ]);
      const flat = (await client.ended(jobs[0]!)).id_sch!;
      const changes = await client.get<{ change: string; xpath: string | null }[]>(
        `/v2/mapping/compare/${family[0]!.id_sch}/${flat}`,
      );
      expect(new Set(changes.map(({ change }) => change))).toContain('changed');
      expect(changes.some(({ change }) => change === 'same')).toBe(false);
      expect(await client.get(`/v2/mapping/compare/${flat}/${flat}`)).toEqual([]);
    });

    it('is downloaded as a workbook, as CSV and as JSON', async () => {
      const { client, conversion } = session();
      const lines = (await client.get<MappingAnswer[]>(`/v2/mapping/get/${conversion.idSch}`)).length;
      const download = async (format: string): Promise<{ name: string; bytes: Uint8Array }> => {
        const response = await client.fetch(`/v2/mapping/download/${conversion.idSch}${format}`);
        expect(response.status).toBe(200);
        return {
          name: response.headers.get('Content-Disposition') ?? '',
          bytes: new Uint8Array(await response.arrayBuffer()),
        };
      };
      const workbook = await download('');
      expect(workbook.name).toMatch(/^attachment; filename=.*\.xlsx/);
      expect(new TextDecoder('latin1').decode(workbook.bytes.subarray(0, 4))).toBe('PK\x03\x04');
      const csv = await download('?format=csv');
      expect(csv.name).toMatch(/\.csv/);
      expect(new TextDecoder().decode(csv.bytes).trimEnd().split(/\r?\n/)).toHaveLength(lines + 1);
      const { bytes } = await download('?format=json');
      expect(JSON.parse(new TextDecoder().decode(bytes))).toHaveLength(lines);
    });

    it('has the statistics of all loads, and of each', async () => {
      const { client, conversion } = session();
      const all = await client.get<{ xpath: string; documents: number }[]>(
        `/v2/mapping/get_stats/${conversion.idSch}?id_lschma=${conversion.idLschma}`,
      );
      // the documents were read by the load and by the jobs for statistics alone
      expect(all.find(({ xpath }) => xpath === '/manifest/@number')!.documents).toBeGreaterThanOrEqual(6);
      const one = await client.get<{ xpath: string; documents: number }[]>(
        `/v2/mapping/get_stats/${conversion.idSch}/${conversion.loaded.id_job}?id_lschma=${conversion.idLschma}`,
      );
      expect(one.find(({ xpath }) => xpath === '/manifest/@number')).toMatchObject({ documents: 3 });
    });
  });

  describe('rows of a target', () => {
    it('are listed, and queried', async () => {
      const { client, stranger, conversion, supports } = session();
      const target = `metadb:${conversion.sqlSchema}`;
      const list = `/v2/target/rows?target=${target}&table=manifest&size=2`;
      const statement = { target, sql: 'select number from manifest order by number' };
      if (!supports('queryTarget')) {
        expect((await client.fetch(list)).status).toBe(501);
        expect((await client.post('/v2/target/query', statement)).status).toBe(501);
        return;
      }
      const page = await client.get<{ content: unknown[][]; columns: { name: string }[] }>(list);
      expect(page.content).toHaveLength(2);
      const number = page.columns.findIndex(({ name }) => name === 'number');
      const found = await client.post<{ rows: unknown[][] }>('/v2/target/query', statement);
      expect(found.body.rows.map(([one]) => one)).toEqual(
        expect.arrayContaining(page.content.map((row) => row[number])),
      );
      expect((await stranger.fetch(list)).status).toBe(404);
    });
  });

  describe('a diagram', () => {
    it('is computed, drawn, saved, and refused with a script', async () => {
      const { client, conversion } = session();
      const path = `/v2/diagram/get/${conversion.idSch}`;
      const { tables, svg } = await client.get<{ tables: unknown[]; svg: string | null }>(path);
      expect(tables.length).toBeGreaterThan(5);
      expect(svg).toBeNull();
      const drawn = await client.fetch(path, { headers: { Accept: 'image/svg+xml' } });
      expect(drawn.headers.get('Content-Type')).toMatch(/^image\/svg\+xml/);
      expect(await drawn.text()).toMatch(/^<svg[^]*<\/svg>\s*$/);
      const ours = '<svg xmlns="http://www.w3.org/2000/svg"><rect width="1" height="1"/></svg>';
      const save = (drawing: string) =>
        client.fetch('/v2/diagram/svg', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ id_sch: conversion.idSch, svg: drawing }),
        });
      expect((await save(ours)).status).toBe(200);
      expect((await client.get<{ svg: string | null }>(path)).svg).toBe(ours);
      expect((await save(ours.replace('<rect', '<script>1</script><rect'))).status).toBe(400);
      expect((await client.get<{ svg: string | null }>(path)).svg).toBe(ours);
    });
  });
}
