/** The service as a part of a Fastify application. */
import { Hono } from 'hono';
import { getRequestListener } from '@hono/node-server';
import fastify from 'fastify';
import { openService } from 'conversion-job-service/node';

/** `home`: a folder for the settings, files and database of the service. */
export async function startHost(home: string, port: number) {
  const service = await openService({ environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' } });
  // Fastify leaves the prefix on the requests
  const below = getRequestListener(new Hono().route('/convert', service.app).fetch, {
    overrideGlobalObjects: false,
  });
  const host = fastify();
  host.get('/', () => 'the host’s own page');
  await host.register(async (scope) => {
    // bodies are the service's to read: uploads are streams
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/convert/*', (request, reply) => {
      reply.hijack();
      void below(request.raw, reply.raw);
    });
  });
  await service.start();
  await host.listen({ host: '127.0.0.1', port });
  return {
    server: host.server,
    async close() {
      await service.close();
      await host.close();
    },
  };
}
