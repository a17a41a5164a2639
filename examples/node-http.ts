/** The service behind a server of the host's own, without any framework. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import { openService } from 'conversion-job-service/node';

/** `home`: a folder for the settings, files and database of the service. */
export async function startHost(home: string, port: number) {
  const service = await openService({
    environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
    basePath: '/convert',
  });
  const server = createServer((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/convert/')) {
      request.url = url.slice('/convert'.length);
      service.listener(request, response);
    } else response.end('the host’s own page');
  });
  await service.start();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    async close() {
      await service.close();
      server.close();
    },
  };
}
