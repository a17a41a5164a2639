/** What a staging area is told: where its tables lie, and how it reaches them. */
import type { Socket } from 'node:net';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';

export interface StagingOptions {
  /** name of the staging schema, and the start of every table's name */
  readonly token: string;
  /** where the tables are made: the staging schema, or the target's where no schema may be made */
  readonly sqlSchema: string;
  /** quoted comment by which tables in the target's schema are known to be staging; null in a schema of their own */
  readonly mark: string | null;
  readonly maxConnections: number;
  readonly connect: (onSocket: (socket: Socket) => void) => Sql;
  /** Makes the staging schema and shows that it is in use; called once, before the first table. */
  readonly prepare: () => Promise<void>;
  /** Alterations that give a table its keys, once all rows are there; '' for none. Asked when no more rows can come. */
  readonly keys: (key: number | string) => string;
}
