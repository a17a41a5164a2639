/** A MySQL or MariaDB target of a job: where it is, and as whom it is reached. */
import type { MysqlAddress } from '../../targets/sql/mysql/connection.ts';
import type { Target } from '../../jobs/request/target.ts';
import { targetAddresses } from './addresses.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function mysqlLocation(
  session: ToolSession,
  target: Extract<Target, { kind: 'mysql' }>,
): Promise<MysqlAddress> {
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
