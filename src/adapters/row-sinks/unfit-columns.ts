/** Columns with values that their types cannot hold, and the types that they get instead when the job publishes. */
import type { ColumnType, RelationalModel } from '../../engine/model/relational-model.ts';
import type { UnfitColumn } from '../../ports/rows/units.ts';

/** By `columnId`. */
export type WidenedTypes = ReadonlyMap<string, ColumnType>;

const text: ColumnType = { kind: 'text' };
/** as every database prints it */
const wholeNumber = /^-?[1-9]\d*$/;
const wholeKinds: ReadonlySet<ColumnType['kind']> = new Set(['smallint', 'integer', 'bigint']);

function holdsWholeNumbers({ kind, scale, list }: ColumnType): boolean {
  return list !== true && (wholeKinds.has(kind) || (kind === 'numeric' && scale === 0));
}

/** A column of the model in a set; tables and columns count from 0. */
export function columnId(table: number, column: number): string {
  return `${table}:${column}`;
}

export class UnfitColumns {
  readonly #columns = new Map<string, UnfitColumn>();

  /** `digits`: as in `UnfitColumn` */
  add(table: number, column: number, digits: number | null): void {
    const id = columnId(table, column);
    const known = this.#columns.get(id)?.[2];
    const most = known === null || digits === null ? null : Math.max(known ?? 0, digits);
    this.#columns.set(id, [table, column, most]);
  }

  addAll(columns: readonly UnfitColumn[]): this {
    for (const column of columns) this.add(...column);
    return this;
  }

  get columns(): readonly UnfitColumn[] {
    return [...this.#columns.values()];
  }

  /** `widest`: the type of the target that holds most digits of whole numbers; where values have more, they are text. */
  types({ tables }: RelationalModel, widest: ColumnType): WidenedTypes {
    return new Map(
      [...this.#columns].map(([id, [table, column, digits]]) => {
        const isWhole = digits !== null && holdsWholeNumbers(tables[table]!.columns[column]!.type);
        return [id, isWhole && digits <= (widest.precision ?? Infinity) ? widest : text] as const;
      }),
    );
  }
}

/** Digits of a whole number, written as every database prints it; null: the text is nothing of the kind. */
export function wholeDigits(value: string): number | null {
  return wholeNumber.test(value) ? value.replace('-', '').length : null;
}

export function widenedWords({ kind }: ColumnType): string {
  return `widened to ${kind}`;
}
