/** Shows rows of a database with their exact values, and writes them as CSV. */
import { actionButton, copyButton, freshId, h, saveFile, type Content } from './controls.ts';

export type ShownValue =
  | string
  | number
  | boolean
  | null
  | readonly ShownValue[]
  | { readonly [member: string]: ShownValue };

export interface ShownRows {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly ShownValue[])[];
}

interface GridSettings {
  /** number of the first row */
  readonly first?: number;
  /** the column that the rows are sorted by */
  readonly order?: { readonly column: string; readonly descending: boolean } | null;
  /** more about a column, which its title shows */
  readonly about?: (column: string) => string | null;
  /** absent: the rows cannot be sorted */
  readonly onSort?: (column: string) => void;
}

export function valueGrid(caption: string, shown: ShownRows, settings: GridSettings = {}): HTMLElement {
  const { columns, rows } = shown;
  const { first = 1, order = null, about, onSort } = settings;
  const isNumber = columns.map(({ type }) => numeric.test(type));
  const head = columns.map(({ name, type }, at) => {
    const isSorted = order?.column === name;
    const mark = isSorted ? (order.descending ? ' ↓' : ' ↑') : '';
    return h(
      'th',
      {
        scope: 'col',
        class: isNumber[at] === true ? 'number' : null,
        'aria-sort': isSorted ? (order.descending ? 'descending' : 'ascending') : null,
      },
      onSort === undefined
        ? name
        : h(
            'button',
            {
              type: 'button',
              class: 'sort',
              title: [`Sort by ${name}`, about?.(name) ?? ''].join('\n').trim(),
              onclick: () => onSort(name),
            },
            name,
            mark,
          ),
      h('span', { class: 'type' }, type),
    );
  });
  return h(
    'div',
    { class: 'scroll values', tabindex: '0', role: 'region', 'aria-label': caption },
    h(
      'table',
      { class: 'grid' },
      h('caption', { class: 'sr' }, caption),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'sr' }, 'Row')), head)),
      h(
        'tbody',
        {},
        rows.map((row, at) =>
          h(
            'tr',
            {},
            h(
              'td',
              { class: 'at' },
              h(
                'button',
                {
                  type: 'button',
                  class: 'link',
                  'aria-label': `Show row ${first + at}`,
                  onclick: () => showRow(first + at, columns, row),
                },
                first + at,
              ),
            ),
            row.map((value, column) =>
              h('td', { class: isNumber[column] === true ? 'number' : null }, valueOf(value)),
            ),
          ),
        ),
      ),
    ),
  );
}

const numeric = /^(?:u?(?:tiny|small|big|huge)?int(?:eger)?\d*|numeric|decimal|double|float|real)\b/i;

/** more of a text is shown in the dialog of its row */
const cellCharacters = 200;

function valueOf(value: ShownValue): Content {
  if (value === null) return h('span', { class: 'null' }, 'NULL');
  const text = valueText(value);
  return text.length > cellCharacters ? `${text.slice(0, cellCharacters)}…` : text;
}

/** The value as text, with every digit; '' for null. */
export function valueText(value: ShownValue): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** All values of one row, each in full. */
function showRow(number: number, columns: ShownRows['columns'], row: readonly ShownValue[]): void {
  const heading = freshId('row');
  const dialog = h(
    'dialog',
    { class: 'wide-dialog', 'aria-labelledby': heading, onclose: () => dialog.remove() },
    h(
      'div',
      { class: 'heading' },
      h('h2', { id: heading }, `Row ${number}`),
      h('button', { type: 'button', onclick: () => dialog.close() }, 'Close'),
    ),
    h(
      'dl',
      { class: 'row-values' },
      columns.map(({ name, type }, at) => {
        const value = row[at] ?? null;
        return h(
          'div',
          {},
          h('dt', {}, name, h('span', { class: 'type' }, type)),
          h('dd', {}, value === null ? h('span', { class: 'null' }, 'NULL') : valueText(value)),
        );
      }),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** Buttons that take the shown rows away as CSV. */
export function csvButtons(name: string, shown: ShownRows): HTMLElement {
  return h(
    'div',
    { class: 'row' },
    copyButton(() => csvOf(shown), 'Copy as CSV'),
    actionButton(
      'Download CSV',
      async () =>
        saveFile(`${name.replaceAll(/[^\w.-]+/g, '_')}.csv`, new Blob([csvOf(shown)], { type: 'text/csv' })),
      'small',
    ),
  );
}

/** RFC 4180 with a line of names. NULL is empty, an empty text is `""`. */
export function csvOf({ columns, rows }: ShownRows): string {
  const lines = [columns.map(({ name }) => field(name)), ...rows.map((row) => row.map(field))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function field(value: ShownValue): string {
  if (value === null) return '';
  const text = valueText(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
