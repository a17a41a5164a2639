/** From what a target gave its executors to the sink of one unit. */
import type { PostgresUnitToken } from '../../adapters/postgres/target/units/token.ts';
import type { UnitToken } from '../../ports/rows/units.ts';
import type { UnitSink } from '../../ports/rows/unit-sink.ts';

/** AppError: the target cannot be reached from here, or does not let the job in. */
export async function openUnit(token: UnitToken, unit: number): Promise<UnitSink> {
  const { openPostgresUnit } = await import('../../adapters/postgres/target/units/executor.ts');
  return openPostgresUnit(token as PostgresUnitToken, unit);
}
