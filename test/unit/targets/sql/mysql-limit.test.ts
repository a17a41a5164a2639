/** What a MySQL server may send: of a server that never comes to an end, and counted byte by byte. */
import { describe, expect, it } from 'vitest';
import { openMysqlQuery } from '../../../../src/targets/sql/mysql/query.ts';
import { createMessageLimit } from '../../../../src/targets/sql/mysql/connection.ts';
import { startEndlessMysql } from '../../../support/servers/endless-mysql.ts';

const mebi = 1024 * 1024;

/** A packet, filled with ones. */
function packet(length: number): Uint8Array {
  const bytes = new Uint8Array(4 + length).fill(1);
  bytes.set([length & 255, (length >> 8) & 255, length >> 16, 0]);
  return bytes;
}

describe('a MySQL server', () => {
  it.each(['rows', 'columns', 'value'] as const)('that sends %s without an end is left', async (kind) => {
    const server = await startEndlessMysql(kind);
    const before = process.memoryUsage().rss;
    const address = {
      host: '127.0.0.1',
      port: server.port,
      database: 'd',
      user: 'u',
      password: 'p',
      sslmode: null,
      label: 'mysql://h/d',
      longestMessageBytes: 64 * mebi,
    };
    await expect(openMysqlQuery(address, 'select 1')).rejects.toMatchObject({
      code: 'unprocessable_input',
      message: expect.stringMatching(
        /^mysql:\/\/h\/d: the server sends a (?:response of more than|message of)/,
      ),
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * mebi);
    server.close();
  });

  it('may send messages up to the limit, whole or in pieces', async () => {
    for (const cut of [1, 3, 4, 7, 1000]) {
      const limit = createMessageLimit(1000);
      await limit.within(Infinity, async () => {
        const bytes = Buffer.concat([packet(1000), packet(0), packet(5), packet(1000)]);
        for (let at = 0; at < bytes.length; at += cut)
          expect(limit.refuse(bytes.subarray(at, at + cut))).toBe(null);
        expect(limit.refuse(packet(1001))).toContain('more than 1000 bytes (svc.limits.target_message)');
      });
    }
  });

  it('may not send more in one message by continuing it', async () => {
    const limit = createMessageLimit(20 * mebi);
    await limit.within(Infinity, async () => {
      expect(limit.refuse(packet(0xff_ff_ff))).toBe(null);
      expect(limit.refuse(packet(100))).toBe(null);
      expect(limit.refuse(packet(0xff_ff_ff))).toBe(null);
      expect(limit.refuse(packet(8 * mebi))).toContain('svc.limits.target_message');
    });
  });
});
