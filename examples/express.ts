/** The service as a part of an Express application. */
import express from 'express';
import { openService } from 'conversion-job-service/node';

/** `home`: a folder for the settings, files and database of the service. */
export async function startHost(home: string, port: number) {
  const service = await openService({
    environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
    // Express takes it off the requests
    basePath: '/convert',
  });
  const host = express();
  // before body parsers: uploads are streams
  host.use('/convert', service.listener);
  host.get('/', (_, response) => void response.send('the host’s own page'));
  await service.start();
  const server = host.listen(port, '127.0.0.1');
  return {
    server,
    async close() {
      await service.close();
      server.close();
    },
  };
}
