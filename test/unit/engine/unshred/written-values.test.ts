/** Values as written that lie beside rows: in the cells of these where they are plain, in their order behind where not. */
import { describe, expect, it } from 'vitest';
import type { RowColumn } from '../../../../src/engine/model/wide-rows.ts';
import type { LexicalRow, RowBlock, RowBlocks } from '../../../../src/engine/unshred/rows/document-rows.ts';
import { cellText, textBlock, type TextRow } from '../../../../src/engine/unshred/rows/values.ts';
import { rowsAsWritten } from '../../../../src/engine/unshred/rows/written-forms.ts';

const columnOf = (
  name: string,
  role: 'row_key' | 'value' | 'nil',
  sourceType: 'QName' | null,
): RowColumn => ({
  table: 0,
  at: 0,
  column: {
    name,
    role,
    sourceType,
    type: { kind: 'text' },
    nullable: true,
    xpath: null,
    path: name,
    references: null,
  },
});
const columns = [
  columnOf('id', 'row_key', null),
  columnOf('amount', 'value', null),
  columnOf('type', 'value', 'QName'),
  columnOf('is_nil', 'nil', null),
];

const entry = (rowKey: string, columnName: string, content: string): LexicalRow => ({
  rowKey,
  columnName,
  content,
});

/** `waits`: each entry has to be waited for. */
function streamOf(entries: readonly LexicalRow[], waits: boolean) {
  let next = 0;
  const stream = {
    head: (entries[0] ?? null) as LexicalRow | null,
    advance(): Promise<void> | undefined {
      next += 1;
      const step = (): void => void (stream.head = entries[next] ?? null);
      if (waits) return Promise.resolve().then(step);
      step();
      return undefined;
    },
  };
  return stream;
}

function blocksOf(keys: readonly string[], rowsOfBlock: number): RowBlocks {
  let at = 0;
  return {
    next: async () => {
      const rows = keys
        .slice(at, (at += rowsOfBlock))
        .map((key): TextRow => [key, `amount ${key}`, null, null]);
      return rows.length === 0 ? null : textBlock(rows, 4);
    },
  };
}

async function read(keys: readonly string[], entries: readonly LexicalRow[], rowsOfBlock = 3, waits = false) {
  const { blocks, left } = rowsAsWritten(blocksOf(keys, rowsOfBlock), {
    columns,
    keyColumn: 0,
    entries: () => Promise.resolve([streamOf(entries, waits)]),
  });
  const rows: TextRow[] = [];
  let before: RowBlock | null = null;
  for (let block = await blocks.next(); block !== null; block = await blocks.next()) {
    // its memory is that of a block to come
    if (before !== null) blocks.giveBack!(before);
    before = block;
    for (let row = 0; row < block.rows; row += 1)
      rows.push([0, 1, 2, 3].map((column) => cellText({ ...block!, at: row * 8 }, column)));
  }
  const others: LexicalRow[] = [];
  const [stream] = left();
  for (let head = stream?.head ?? null; head !== null; head = stream!.head) {
    others.push(head);
    await stream!.advance();
  }
  return { amounts: rows.map(([, amount]) => amount), rows, others };
}

const keys = Array.from({ length: 40 }, (_, at) => String(at * at + 1));

describe('values as written', () => {
  it.each([
    [1, false],
    [3, true],
    [64, false],
  ])('are in the cells of their rows, %i to a block', async (rowsOfBlock, waits) => {
    const some = keys.filter((_, at) => at % 3 !== 1);
    const entries = some.map((key) => entry(key, 'amount', `0${key}.50 €`));
    const { amounts, others } = await read(keys, entries, rowsOfBlock, waits);
    expect(amounts).toEqual(keys.map((key, at) => (at % 3 === 1 ? `amount ${key}` : `0${key}.50 €`)));
    expect(others).toEqual([]);
  });

  it('may be empty, and the last one counts', async () => {
    const { amounts } = await read(
      ['1', '2'],
      [entry('1', 'amount', ''), entry('2', 'amount', 'x'), entry('2', 'amount', 'y')],
    );
    expect(amounts).toEqual(['', 'y']);
  });

  it('are left where they are names, of no cell with a value, or of no row', async () => {
    const left = [
      entry('1', 'type', '{urn:a}b'),
      entry('2', 'is_nil', '1'),
      entry('3', 'amount', 'of no row'),
      entry('10', 'unknown', 'x'),
      entry('99', 'amount', 'behind all rows'),
    ];
    const { rows, others } = await read(
      ['1', '2', '10', '26'],
      [...left.slice(0, 4), entry('26', 'amount', 'z'), left[4]!],
      2,
    );
    expect(others).toEqual(left);
    expect(rows).toEqual([
      ['1', 'amount 1', null, null],
      ['2', 'amount 2', null, null],
      ['10', 'amount 10', null, null],
      ['26', 'z', null, null],
    ]);
  });

  it('are those of keys that doubles do not tell apart', async () => {
    const near = ['9007199254740992', '9007199254740993', '9223372036854775807'];
    const { amounts, others } = await read(near, [entry(near[1]!, 'amount', 'one')]);
    expect(amounts).toEqual([`amount ${near[0]}`, 'one', `amount ${near[2]}`]);
    expect(others).toEqual([]);
  });

  it('are left where keys have no such order', async () => {
    const entries = [entry('-5', 'amount', 'x'), entry('7', 'amount', 'y')];
    const { amounts, others } = await read(['-5', '-3'], entries);
    expect(amounts).toEqual(['amount -5', 'amount -3']);
    expect(others).toEqual(entries);
  });
});
