/** Watches over the API: the limits of an organisation. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../../support/memory/adapters.ts';

describe('watches of one organisation', () => {
  it('are refused past svc.limits.watches', async () => {
    const { send, adapters } = await createTestApp({ 'cmd.enabled': 'true', 'svc.limits.watches': '2' });
    adapters.files.put(1, 'inbox/a.xml', new TextEncoder().encode('<a/>'));
    const post = (name: string) =>
      send('/v2/watches', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name, location: 'inbox', target: 'metadb:orders', every: '1m' }),
      });
    const made = await post('one');
    expect(made.status).toBe(201);
    expect(new URL(made.headers.get('Location')!, 'http://host/below/v2/watches').pathname).toBe(
      '/below/v2/watches/1',
    );
    expect((await post('two')).status).toBe(201);
    const refused = await post('three');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('60');
    expect(await refused.json()).toMatchObject({
      code: 'too_many_requests',
      detail: expect.stringContaining('svc.limits.watches'),
    });
    expect((await adapters.watches.listWatches(1, 0, 20)).totalElements).toBe(2);
  });
});
