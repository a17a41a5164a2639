/** Rows that lie in several tables (src/engine/model/wide-rows.ts), put together again by their row key. */
import type { RelationalModel } from '../model/relational-model.ts';
import type { DocumentRows, RowStream, RowValues } from './document-rows.ts';
import { roleColumn } from './writing-plan.ts';

/** The rows of the first of `parts` with what the others add; null where that table is not there. */
export async function joinedRows(
  { tables }: RelationalModel,
  rows: DocumentRows,
  [first, ...others]: readonly number[],
): Promise<RowStream<RowValues> | null> {
  const stream = await rows.table(first!);
  if (stream === null || others.length === 0) return stream;
  const continuations: Continuation[] = [];
  for (const part of others) {
    continuations.push({
      stream: await rows.table(part),
      keyColumn: roleColumn(tables[part]!, 'row_key'),
      // rows of an earlier model have none here
      empty: tables[part]!.columns.map(() => null),
    });
  }
  return new JoinedRows(stream, roleColumn(tables[first!]!, 'row_key'), continuations);
}

interface Continuation {
  readonly stream: RowStream<RowValues> | null;
  readonly keyColumn: number;
  readonly empty: RowValues;
}

class JoinedRows implements RowStream<RowValues> {
  head: RowValues | null;
  readonly #first: RowStream<RowValues>;
  readonly #keyColumn: number;
  readonly #continuations: readonly Continuation[];

  constructor(first: RowStream<RowValues>, keyColumn: number, continuations: readonly Continuation[]) {
    this.#first = first;
    this.#keyColumn = keyColumn;
    this.#continuations = continuations;
    this.head = this.#join();
  }

  advance(): Promise<void> | undefined {
    const key = this.#first.head![this.#keyColumn]!;
    const waits = this.#continuations.flatMap(({ stream, keyColumn }) =>
      stream?.head?.[keyColumn] === key ? (stream.advance() ?? []) : [],
    );
    const wait = this.#first.advance();
    if (wait !== undefined) waits.push(wait);
    if (waits.length === 0) {
      this.head = this.#join();
      return undefined;
    }
    return Promise.all(waits).then(() => {
      this.head = this.#join();
    });
  }

  #join(): RowValues | null {
    const { head } = this.#first;
    if (head === null) return null;
    const key = head[this.#keyColumn]!;
    return this.#continuations.reduce<RowValues>(
      (values, { stream, keyColumn, empty }) => [
        ...values,
        ...(stream?.head?.[keyColumn] === key ? stream.head : empty),
      ],
      head,
    );
  }
}
