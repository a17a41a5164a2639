/** The service as a part of a Hono application, below a prefix, for people whom the host knows. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { allScopes } from 'conversion-job-service';
import { openService } from 'conversion-job-service/node';

/** `home`: a folder for the settings, files and database of the service. */
export async function startHost(home: string, port: number) {
  const service = await openService({
    environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
    callers: {
      // whatever the host's own sign-in says; requests that it does not know need an API key
      identify: async (request) =>
        request.headers.get('Cookie')?.includes('session=valid') === true
          ? { name: 'ada', idOrg: 1, scopes: allScopes }
          : null,
    },
  });
  const host = new Hono();
  host.get('/', (c) => c.text('the host’s own page'));
  host.route('/convert', service.app);
  await service.start();
  const server = serve({ fetch: host.fetch, hostname: '127.0.0.1', port });
  return {
    server,
    async close() {
      await service.close();
      server.close();
    },
  };
}
