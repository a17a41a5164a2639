/** The extension group `cil` in one deployment: the same conversion as a feed. */
import { describe, expect, it } from 'vitest';
import type { Session } from './session.ts';

interface Page<T> {
  readonly content: readonly T[];
  readonly total_elements: number;
}

export function feedSuite(session: () => Session): void {
  describe('a feed', () => {
    const base = '/v2/extensions/cil';

    it('lists its runs, and tells all of one', async () => {
      const { client, conversion } = session();
      const { name, loaded } = conversion;
      for (const path of [`${base}/jobs?size=500`, `${base}/jobs/0?size=500`]) {
        const { content } = await client.get<Page<{ cfxml: string; pid: number }>>(path);
        expect(content.find(({ pid }) => pid === loaded.id_job)).toMatchObject({
          cfxml: name,
          status: 'C',
          documents: 3,
          rejected: 0,
        });
      }
      const run = await client.get<{ rows: number; tables: { table_name: string; rows: number }[] }>(
        `${base}/job/${name}/${loaded.id_job}`,
      );
      expect(run).toMatchObject({ pid: loaded.id_job, unmapped: 0, rejects: [] });
      expect(run.tables.reduce((sum, { rows }) => sum + rows, 0)).toBe(run.rows);
      const [counted] = await session().sql.unsafe(
        `select count(*)::int as n from ${conversion.sqlSchema}.package`,
      );
      expect(run.tables.find((table) => table.table_name === 'package')!.rows).toBe(counted!['n']);
      expect(await client.get(`${base}/job/${name}`)).toMatchObject({ cfxml: name });
      expect((await client.fetch(`${base}/job/${name}/${'9'.repeat(40)}`)).status).toBe(404);
    });

    it('shows its mappings, its lineage and its sequences, alone and among all', async () => {
      const { client, conversion } = session();
      const { name } = conversion;
      const own = await client.get<{ mapping: string; cfxml: string }[]>(`${base}/mapping/${name}`);
      const all = await client.get<{ cfxml: string }[]>(`${base}/mappings`);
      expect(all.filter(({ cfxml }) => cfxml === name)).toEqual(own);
      expect(await client.get(`${base}/mapping/group`)).toMatchObject({ [name]: own.length });
      const lineage = await client.get<{ source_xpath: string; target_column: string }[]>(
        `${base}/lineage/${name}/package`,
      );
      expect(lineage.map((line) => line.source_xpath)).toContain('/manifest/shipment/package/@id');
      const sequences = await client.get<{ load_order: number }[]>(`${base}/sequence/${name}`);
      expect(sequences.length).toBe(own.length);
      expect(sequences.map((one) => one.load_order)).toEqual(
        sequences.map((one) => one.load_order).toSorted((a, b) => a - b),
      );
      const everywhere = await client.get<{ cfxml: string }[]>(`${base}/sequences`);
      expect(everywhere.filter(({ cfxml }) => cfxml === name)).toEqual(sequences);
    });

    it('has keys, to which natural ones are added and taken away', async () => {
      const { client, conversion } = session();
      const { name, idSch } = conversion;
      const natural = async (): Promise<unknown[]> =>
        (
          await client.get<Page<{ key_type: string; table_name: string; column_name: string }>>(
            `${base}/keys/${name}/0?size=500`,
          )
        ).content
          .filter((key) => key.key_type === 'NK')
          .map((key) => `${key.table_name}.${key.column_name}`);
      const change = (keys: readonly object[]) =>
        client.fetch(`${base}/keys/update`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ cfxml: name, keys }),
        });
      const before = await natural();
      const key = { table_name: 'shipment', column_name: 'position' };
      const wrong = { table_name: 'shipment', column_name: 'nowhere', key_type: 'NK' };
      const mappings = await client.get<
        { table_name: string; column_name: string | null; xpath: string | null }[]
      >(`/v2/mapping/get/${idSch}`);
      const column = mappings.find(
        (one) => one.table_name === 'shipment' && one.xpath !== null && one.column_name !== null,
      )!;
      const good = { table_name: 'shipment', column_name: column.column_name, key_type: 'NK', position: 1 };
      expect(key.table_name).toBe('shipment');
      expect((await change([good, wrong])).status).toBe(404);
      expect(await natural()).toEqual(before);
      expect((await change([good])).ok).toBe(true);
      expect(await natural()).toContain(`shipment.${column.column_name}`);
      const ddl = await (await client.fetch(`/v2/schema/ddl/${idSch}`)).text();
      expect(ddl).toMatch(/UNIQUE \(/);
      expect((await change([{ ...good, key_type: null, position: undefined }])).ok).toBe(true);
      expect(await natural()).toEqual(before);
      const page = await client.get<Page<{ cfxml: string }>>(`${base}/keys/0?size=500`);
      expect(page.content.some(({ cfxml }) => cfxml === name)).toBe(true);
    });
  });
}
