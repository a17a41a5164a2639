/** Watches in one deployment: made, looked at, changed, run and removed. Who loads for them is a service on Node, here or elsewhere. */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { WatchFileRecord, WatchRecord } from '../../../src/ports/stores/watches.ts';
import type { Session } from './session.ts';

export function watchSuite(session: () => Session): void {
  describe('a watch', () => {
    it('is made, found, changed, run and removed', async () => {
      const { client, conversion } = session();
      const members = {
        name: `${conversion.name} inbox`,
        location: dirname(conversion.xmlPath),
        // nothing there has such a name
        pattern: 'none-*.xml',
        target: `metadb:${conversion.name}_inbox`,
        every: '1d',
      };
      const made = await client.post<WatchRecord>('/v2/watches', members);
      expect([made.status, made.body]).toMatchObject([201, { ...members, paused: false, id_sch: null }]);
      const path = `/v2/watches/${made.body.id_watch}`;
      expect((await client.post('/v2/watches', members)).status).toBe(409);
      const { content } = await client.get<{ content: WatchRecord[] }>('/v2/watches?size=500');
      expect(content.map(({ id_watch: id }) => id)).toContain(made.body.id_watch);
      const changed = await client.fetch(path, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ settle: '5s', order: 'modified' }),
      });
      expect(changed.status).toBe(200);
      expect(await client.get<WatchRecord>(path)).toMatchObject({
        ...members,
        settle: '5s',
        order: 'modified',
      });
      expect((await client.post(`${path}/run`, {})).status).toBeLessThan(300);
      const files = await client.get<{ content: WatchFileRecord[]; total_elements: number }>(`${path}/files`);
      expect(files).toMatchObject({ content: [], total_elements: 0 });
      expect((await client.fetch(path, { method: 'DELETE' })).status).toBe(204);
      expect((await client.fetch(path)).status).toBe(404);
    });
  });
}
