/** A process that is one attempt at a unit: told on stdin what to write, it says when it begins, and its receipt. */
import { text as textOf } from 'node:stream/consumers';
import { openPostgresUnit, type PostgresUnitToken } from '../../../../src/targets/sql/postgres/units.ts';

interface Order {
  readonly token: PostgresUnitToken;
  readonly unit: number;
  readonly table: number;
  readonly text: string;
  readonly rows: number;
}

const { token, unit, table, text, rows } = JSON.parse(await textOf(process.stdin)) as Order;
process.stdout.write('begins\n');
const into = await openPostgresUnit(token, unit);
await into.write(table, Buffer.from(text), rows);
process.stdout.write(`${await into.commit((receipt) => JSON.stringify(receipt))}\n`);
await into.close();
