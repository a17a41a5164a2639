/** Tables of records: on a phone each row is a card, and long lists come in pieces. */
import { count, counted, fill, h, type Content, searchField } from './controls.ts';

export interface GridColumn<Row> {
  readonly label: string;
  readonly cell: (row: Row) => Content;
  /** right-aligned, for figures */
  readonly number?: true;
  readonly class?: string;
}

const piece = 200;

export function grid<Row>(
  caption: string,
  columns: readonly GridColumn<Row>[],
  rows: readonly Row[],
): HTMLElement {
  const body = h('tbody');
  const table = h(
    'table',
    { class: 'grid' },
    h('caption', { class: 'sr' }, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        columns.map(({ label, number }) =>
          h('th', { scope: 'col', class: number === true ? 'number' : null }, label),
        ),
      ),
    ),
    body,
  );
  const more = h('button', { type: 'button', onclick: () => add() }, 'Show more');
  let shown = 0;
  const add = (): void => {
    const next = rows.slice(shown, shown + piece);
    for (const row of next)
      body.append(
        h(
          'tr',
          {},
          columns.map((column) => cellOf(column, row)),
        ),
      );
    shown += next.length;
    more.hidden = shown >= rows.length;
    more.textContent = `Show more (${counted(rows.length - shown, 'row')} left)`;
  };
  add();
  const scroller = h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption }, table);
  return h('div', { class: columns.length < 3 ? 'grid-box slim' : 'grid-box wide-grid' }, scroller, more);
}

function cellOf<Row>({ label, cell, number, class: kind }: GridColumn<Row>, row: Row): HTMLElement {
  const classes = [number === true ? 'number' : '', kind ?? ''].join(' ').trim();
  return h('td', { 'data-label': label, class: classes === '' ? null : classes }, cell(row));
}

/** A searchable grid of rows: `textOf` returns the text that is searched. */
export function searchedGrid<Row>(
  caption: string,
  columns: readonly GridColumn<Row>[],
  rows: readonly Row[],
  textOf: (row: Row) => string,
  ...filters: Content[]
): HTMLElement {
  const result = h('div');
  const amount = h('span', { class: 'hint', role: 'status' });
  const show = (text: string): void => {
    const found = text === '' ? rows : rows.filter((row) => textOf(row).toLowerCase().includes(text));
    amount.textContent =
      found.length === rows.length
        ? `${count(rows.length)} in total`
        : `${count(found.length)} of ${count(rows.length)}`;
    fill(result, grid(caption, columns, found));
  };
  show('');
  return h(
    'div',
    {},
    h('div', { class: 'bar' }, searchField(`Search ${caption.toLowerCase()}`, show), filters, amount),
    result,
  );
}
