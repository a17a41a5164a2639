/** A server that speaks PostgreSQL's protocol and is something else is refused before anything is done there. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { needs } from '../../support/needs.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';

describe('a server that is not PostgreSQL', { timeout: 120_000, ...needs('postgresql') }, () => {
  let server: ExternalPostgres;
  beforeAll(async () => void (server = await startExternalPostgres()));
  afterAll(() => server?.stop());

  it.each([
    ['Amazon Redshift', 'compiled by gcc', 'Redshift 1.0.56'],
    ['CockroachDB', 'PostgreSQL 1', 'CockroachDB '],
    ['YugabyteDB', 'compiled by gcc', '15.2-YB-2025.1 '],
    ['Greenplum', 'compiled by gcc', 'Greenplum 7.1.0'],
    ['Materialize', 'compiled by gcc', 'Materialize 0.1'],
  ])('%s is named, with what to do', async (product, real, other) => {
    // the answer of the real server, with the name of another product in it, of the same length
    expect(other).toHaveLength(real.length);
    const proxy = createServer((client) => {
      const upstream = connect(server.port, '127.0.0.1');
      client.on('data', (data) => upstream.write(data));
      upstream.on('data', (data) =>
        client.write(Buffer.from(data.toString('latin1').replace(real, other), 'latin1')),
      );
      client.on('close', () => upstream.destroy());
      client.on('error', () => upstream.destroy());
      upstream.on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const sink = createPostgresRowSink({
      url: server.url.replace(`:${server.port}/`, `:${port}/`),
      sqlSchema: 'public',
    });
    try {
      await expect(sink.loads()).rejects.toMatchObject({
        code: 'target_not_allowed',
        message: expect.stringMatching(`The target is ${product}, not PostgreSQL: .*-o FOLDER`) as string,
      });
    } finally {
      await sink.close();
      proxy.close();
    }
  });
});
