/** Targets in MySQL and MariaDB: their addresses and users. */
import type { MysqlAddress } from '../../targets/sql/mysql/connection.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import { targetAddresses } from './addresses.ts';
import type { KindOfTarget } from './kind.ts';
import type { ToolSession } from '../session/tool-session.ts';

type MysqlTarget = Extract<Target, { kind: 'mysql' }>;

export const mysqlKind: KindOfTarget<MysqlTarget> = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'mysql',
  async openSink(session, target) {
    const { createMysqlRowSink } = await import('../../targets/sql/mysql/sink.ts');
    return createMysqlRowSink(await mysqlAddress(session, target));
  },
  async openSource(session, target) {
    const { createMysqlRowSource } = await import('../../targets/sql/mysql/source.ts');
    return createMysqlRowSource(await mysqlAddress(session, target));
  },
  async openRemover(session, target) {
    const { createMysqlRowRemover } = await import('../../targets/sql/mysql/driver.ts');
    return createMysqlRowRemover(await mysqlAddress(session, target));
  },
  whatWasRun: [
    {
      target: 'MySQL, MariaDB',
      driver: '`mysql2` 3.24.6',
      transaction: 'one `RENAME TABLE`, or one for rows',
      run_against: 'MariaDB 10.11; no MySQL',
    },
  ],
};

async function mysqlAddress(session: ToolSession, target: MysqlTarget): Promise<MysqlAddress> {
  const { outUser, outPassword } = session.request;
  return {
    host: target.host,
    port: target.port,
    database: target.database,
    user: outUser ?? target.user ?? '',
    password: outPassword ?? target.password ?? '',
    sslmode: target.sslmode,
    label: target.address,
    longestMessageBytes: session.home.config.limits.targetMessageBytes,
    ...(await targetAddresses(session, target)),
  };
}
