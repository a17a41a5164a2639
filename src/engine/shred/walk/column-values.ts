/** Writes values of the source to their columns. Keeps values that a column's type cannot hold exactly beside the row. */
import { utf8Text } from '../../xml/utf8.ts';
import { partOf } from '../compiled-plan.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import { EMPTY, FITS, UNCONVERTED, cellOfMisfit, isMistakable } from '../values/conversion.ts';
import type { WalkContext } from './context.ts';
import type { UnmappedContent } from './unmapped-content.ts';

export interface UnconvertedText {
  readonly table: number;
  readonly column: number;
  /** the key as it is written: decimal digits, because it may exceed 2^53 */
  readonly rowKey: number | string;
  readonly text: string;
}

export class ColumnValues {
  /** values their columns cannot hold; the consumer empties it */
  readonly unconvertedValues: UnconvertedText[] = [];
  readonly #context: WalkContext;
  readonly #rows: OpenRows;
  readonly #unmapped: UnmappedContent;

  constructor(context: WalkContext, unmapped: UnmappedContent) {
    this.#context = context;
    this.#unmapped = unmapped;
    this.#rows = context.rows;
  }

  set(row: number, column: number, source: Uint8Array, start: number, end: number): void {
    const result = this.#rows.setValue(row, column, source, start, end);
    if (result !== FITS) this.#setOther(result, row, column, source, start, end);
    const keepsName =
      result === FITS &&
      this.#rows.table(row).holdsNames[column] === 1 &&
      this.#keepName(row, column, source.subarray(start, end));
    const { prefixes } = this.#context;
    if (!keepsName && prefixes.wanted.length > 0) prefixes.meet(this.#unmapped, source, start, end);
  }

  #setOther(
    result: number,
    row: number,
    column: number,
    source: Uint8Array,
    start: number,
    end: number,
  ): void {
    const { deviations, output, settings } = this.#context;
    const table = this.#rows.table(row);
    const part = partOf(table, column);
    const { name, keepsForm, type } = table.columns[column]!;
    const written = source.subarray(start, end);
    const rowKey = this.#rows.key(row);
    if (result === UNCONVERTED) {
      const text = utf8Text(written);
      this.unconvertedValues.push({ table: part.index, column: column - part.start, rowKey, text });
      if (settings.widensInPlace) this.#rows.mark(row, column);
      else {
        const cell = cellOfMisfit(written, type, settings.encoding);
        this.#rows.setRaw(row, column, cell, 0, cell.length);
        if (isMistakable(text, type))
          output.side('lexical', [this.#context.documentKey(), part.name, rowKey, name, written]);
      }
      deviations.unconverted(`${part.name}.${name}`, text);
      return;
    }
    const kept = result === EMPTY && keepsForm !== true ? new Uint8Array(0) : written;
    output.side('lexical', [this.#context.documentKey(), part.name, rowKey, name, kept]);
  }

  /** Keeps a QName with its namespace, and returns true, if the model gives its prefix another meaning or none. */
  #keepName(row: number, column: number, value: Uint8Array): boolean {
    const { output, scope, settings } = this.#context;
    const table = this.#rows.table(row);
    const { name, type } = table.columns[column]!;
    const expanded = scope.expand(utf8Text(value), type.list === true, settings.model.namespaces);
    if (expanded === null) return false;
    const document = this.#context.documentKey();
    output.side('lexical', [document, partOf(table, column).name, this.#rows.key(row), name, expanded]);
    return true;
  }
}
