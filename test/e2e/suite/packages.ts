/** Export and import in one deployment, to and from a folder of the organisation. */
import { describe, expect, it } from 'vitest';
import type { MappingAnswer } from '../../support/service/client.ts';
import type { Session } from './session.ts';

export function transferSuite(session: () => Session): void {
  describe('a schema that is moved', () => {
    it('comes back from its package under a new id, with the same map', async () => {
      const { client, conversion, supports } = session();
      const output = { origin_id: String(conversion.idSch), output_path: 'moved/freight' };
      const exported = await client.post('/v2/schema/export', output);
      if (!supports('exportSchema')) {
        expect([exported.status, exported.body.code]).toEqual([501, 'runtime_unsupported']);
        const imported = await client.post('/v2/schema/import', { input_path: 'moved/freight' });
        expect([imported.status, imported.body.code]).toEqual([501, 'runtime_unsupported']);
        return;
      }
      expect(exported).toEqual({ status: 200, body: { error: false, az_output_path: '' } });
      const imported = await client.post<{ error: boolean; origin_ids: string }>('/v2/schema/import', {
        input_path: 'moved/freight',
      });
      expect(imported.body.error).toBe(false);
      const [first] = imported.body.origin_ids.split(', ').map(Number);
      const map = async (idSch: number): Promise<unknown[]> =>
        (await client.get<MappingAnswer[]>(`/v2/mapping/get/${idSch}`)).map((line) => ({
          ...line,
          // numbered anew
          id_map: 0,
          id_sch: 0,
          id_lschma: 0,
          id_tab: 0,
        }));
      expect(await map(first!)).toEqual(await map(conversion.idSch));
    });

    it('is refused where it is another organisation’s, nowhere, or asked for in two ways', async () => {
      const { client, stranger, conversion, supports } = session();
      if (!supports('exportSchema')) return;
      const own = { origin_id: String(conversion.idSch), output_path: 'moved/again' };
      expect((await stranger.post('/v2/schema/export', own)).status).toBe(404);
      expect((await client.post('/v2/schema/export', { ...own, origin_id: '9007199254740991' })).status).toBe(
        404,
      );
      expect((await client.post('/v2/schema/export', { origin_id: own.origin_id })).status).toBe(400);
      expect((await client.post('/v2/schema/export', { ...own, output_path: '../../out' })).status).toBe(400);
      expect((await client.post('/v2/schema/import', { input_path: 'not/there' })).status).toBe(400);
      const inside = { ...own, metadb_host: '169.254.169.254', metadb_user: 'u', metadb_db: 'd' };
      expect((await client.post('/v2/schema/export', inside)).status).toBe(403);
    });
  });
}
