/** Selects the enumerated values of a model that a target keeps (`--codes`). */
import { modelCodes, type ModelCodes } from '../../engine/sql/code-lists.ts';
import type { SinkPlan } from '../../ports/row-sink.ts';

/** `isWanted`: selects the tables whose columns are considered. */
export async function codesOf(
  { model, enumerations }: SinkPlan,
  isWanted: (table: number) => boolean,
): Promise<ModelCodes> {
  const valuesAt = await enumerations?.();
  return modelCodes(model, valuesAt ?? (() => null), isWanted);
}
