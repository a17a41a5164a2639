/** The rows of one table, in pages: sorted, filtered, and copied as CSV. */
import { getJson, postJson, type PageOf } from '../shell/client.ts';
import {
  announce,
  count,
  empty,
  failureBox,
  field,
  fill,
  h,
  selectOf,
  waiting,
  type Content,
} from '../parts/controls.ts';
import { csvButtons, valueGrid, type ShownRows, type ShownValue } from '../parts/value-grid.ts';
import { linkTo } from '../shell/views.ts';
import {
  countStatement,
  pageStatement,
  type Comparison,
  type Condition,
  type ShownOrder,
  type RowSelection,
} from './statements.ts';
import type { TargetContext, ShownTable } from './target-context.ts';

export interface TablePage extends PageOf<readonly ShownValue[]> {
  readonly columns: ShownRows['columns'];
}

export interface QueryAnswer extends ShownRows {
  readonly truncated: boolean;
}

/** Path of the first rows of a table, in the order of its key. */
export function firstPath(target: string, table: string, size: number, page = 0): string {
  return `v2/target/rows?${new URLSearchParams({ target, table, size: String(size), page: String(page) }).toString()}`;
}

export async function runStatement(target: string, sql: string, signal: AbortSignal): Promise<QueryAnswer> {
  return await postJson<QueryAnswer>('v2/target/query', { target, sql }, signal);
}

const comparisons: readonly { readonly value: Comparison; readonly label: string }[] = [
  { value: 'contains', label: 'contains' },
  { value: '=', label: 'is' },
  { value: '<>', label: 'is not' },
  { value: '>=', label: 'is at least' },
  { value: '<=', label: 'is at most' },
  { value: 'null', label: 'is NULL' },
  { value: 'not null', label: 'is not NULL' },
];

const sizes = [50, 100, 500];

interface ShownState {
  readonly order: ShownOrder | null;
  readonly conditions: readonly Condition[];
  readonly page: number;
  readonly size: number;
}

export function rowsPart({ target, sql, query, signal }: TargetContext, table: ShownTable): Content {
  let state = readState(query, table);
  let pending = new AbortController();
  signal.addEventListener('abort', () => pending.abort());
  const filters = h('div', { class: 'row wrap' });
  const result = h('div', {}, waiting());
  const pager = h('nav', { class: 'pager', 'aria-label': 'Pages of rows' });
  const amount = h('span', { class: 'hint', role: 'status' });
  const csv = h('div');
  const sizeChoice = selectOf(
    'Rows on a page',
    sizes.map((size) => ({ value: String(size), label: String(size) })),
    String(state.size),
    (size) => change({ size: Number(size), page: 0 }),
  );
  const form = h('div');
  if (table.columns.length > 0) showForm(table.columns);
  void show();
  return [form, filters, h('div', { class: 'bar' }, amount, csv, sizeChoice.field), result, pager];

  function showForm(columns: readonly FilterColumn[]): void {
    fill(
      form,
      filterForm(columns, (condition) => change({ conditions: [...state.conditions, condition], page: 0 })),
    );
  }

  function change(part: Partial<ShownState>): void {
    state = { ...state, ...part };
    // the address contains the filter, so that it can be sent to somebody else
    history.replaceState(null, '', addressOf(target, table.name, query, state));
    void show();
  }

  async function show(): Promise<void> {
    pending.abort();
    pending = new AbortController();
    const own = pending.signal;
    fill(filters, filterButtons());
    result.setAttribute('aria-busy', 'true');
    try {
      const found = await readPage(own);
      if (own.aborted) return;
      if (form.childElementCount === 0) showForm(found.columns);
      fill(csv, found.rows.length === 0 ? null : csvButtons(table.name, found));
      fill(result, found.rows.length === 0 ? noRows() : gridOf(found));
      showPages(found.rows.length, found.total);
      if (found.total === null) {
        const total = await countRows(own);
        if (!own.aborted) showPages(found.rows.length, total);
      }
    } catch (error) {
      if (own.aborted) return;
      fill(csv);
      fill(amount);
      fill(pager);
      fill(
        result,
        failureBox(error, () => void show()),
      );
    } finally {
      if (!own.aborted) result.removeAttribute('aria-busy');
    }
  }

  /** `total`: null if it is counted separately */
  async function readPage(own: AbortSignal): Promise<ShownRows & { readonly total: number | null }> {
    const { page, size, order, conditions } = state;
    if (order === null && conditions.length === 0) {
      const found = await getJson<TablePage>(firstPath(target, table.name, size, page), own);
      return { columns: found.columns, rows: found.content, total: found.total_elements };
    }
    const { columns, rows } = await runStatement(
      target,
      pageStatement(sql, selection(), { page, size }),
      own,
    );
    return { columns, rows, total: null };
  }

  async function countRows(own: AbortSignal): Promise<number> {
    const { rows } = await runStatement(target, countStatement(sql, selection()), own);
    return Number(rows[0]?.[0] ?? 0);
  }

  function selection(): RowSelection {
    return {
      table: table.name,
      conditions: state.conditions,
      order: state.order,
      key: table.columns.filter(({ key }) => key === 'PK').map(({ name }) => name),
      decimals: table.columns.filter(({ type }) => type.startsWith('numeric')).map(({ name }) => name),
    };
  }

  function gridOf(found: ShownRows): HTMLElement {
    return valueGrid(`Rows of ${table.name}`, found, {
      first: state.page * state.size + 1,
      order: state.order,
      about: (column) => table.columns.find(({ name }) => name === column)?.xpath ?? null,
      onSort: (column) => {
        const { order } = state;
        const isSame = order?.column === column;
        const next = !isSame
          ? { column, descending: false }
          : order.descending
            ? null
            : { column, descending: true };
        announce(
          next === null
            ? 'In the order of the key'
            : `Sorted by ${column}, ${next.descending ? 'descending' : 'ascending'}`,
        );
        change({ order: next, page: 0 });
      },
    });
  }

  function showPages(shown: number, total: number | null): void {
    const { page, size } = state;
    const from = page * size + 1;
    fill(
      amount,
      shown === 0
        ? null
        : `Rows ${count(from)} to ${count(from + shown - 1)}${total === null ? '' : ` of ${count(total)}`}`,
    );
    const isLast = total === null ? shown < size : page * size + shown >= total;
    fill(
      pager,
      page === 0 && isLast
        ? null
        : [
            h(
              'button',
              { type: 'button', disabled: page === 0, onclick: () => change({ page: page - 1 }) },
              'Previous',
            ),
            h(
              'span',
              {},
              `Page ${count(page + 1)}${total === null ? '' : ` of ${count(Math.ceil(total / size))}`}`,
            ),
            h(
              'button',
              { type: 'button', disabled: isLast, onclick: () => change({ page: page + 1 }) },
              'Next',
            ),
          ],
    );
  }

  function noRows(): HTMLElement {
    if (state.conditions.length > 0)
      return empty(
        h('p', {}, h('strong', {}, 'No row matches.')),
        h(
          'button',
          { type: 'button', onclick: () => change({ conditions: [], page: 0 }) },
          'Remove the filters',
        ),
      );
    return empty(
      h('p', {}, h('strong', {}, 'This table has no rows.')),
      h('p', {}, 'The documents that were loaded have no content for it.'),
    );
  }

  function filterButtons(): Content {
    return state.conditions.map((condition, at) => {
      const text = conditionLabel(condition);
      return h(
        'button',
        {
          type: 'button',
          class: 'small filter',
          'aria-label': `Remove the filter ${text}`,
          onclick: () => change({ conditions: state.conditions.filter((_, index) => index !== at), page: 0 }),
        },
        text,
        h('span', { 'aria-hidden': 'true' }, '×'),
      );
    });
  }
}

function conditionLabel({ column, comparison, value }: Condition): string {
  const word = comparisons.find((one) => one.value === comparison)?.label ?? comparison;
  return `${column} ${word}${hasValue(comparison) ? ` ${value}` : ''}`;
}

function hasValue(comparison: string): boolean {
  return !comparison.endsWith('null');
}

interface FilterColumn {
  readonly name: string;
  readonly xpath?: string | null;
}

function filterForm(columns: readonly FilterColumn[], onAdd: (condition: Condition) => void): HTMLElement {
  const column = selectOf(
    'Filter by',
    columns.map(({ name }) => ({ value: name, label: name })),
    columns.find(({ xpath = null }) => xpath !== null)?.name ?? '',
    () => undefined,
  );
  const value = h('input', { type: 'text', spellcheck: 'false', autocomplete: 'off' });
  const valueField = field('Value', value);
  const comparison = selectOf('Condition', comparisons, 'contains', (chosen) => {
    valueField.hidden = !hasValue(chosen);
  });
  return h(
    'form',
    {
      class: 'bar',
      'aria-label': 'Filter the rows',
      onsubmit: (event: Event) => {
        event.preventDefault();
        const chosen = comparison.input.value as Comparison;
        onAdd({ column: column.input.value, comparison: chosen, value: hasValue(chosen) ? value.value : '' });
        value.value = '';
      },
    },
    column.field,
    comparison.field,
    valueField,
    h('button', { type: 'submit' }, 'Add filter'),
  );
}

// The state of the list in the address.

function addressOf(target: string, table: string, query: URLSearchParams, state: ShownState): string {
  const { order, conditions, page, size } = state;
  return linkTo(['rows'], {
    target,
    table,
    job: query.get('job'),
    sort: order?.column ?? null,
    descending: order?.descending === true ? 1 : null,
    filter:
      conditions.length === 0
        ? null
        : JSON.stringify(conditions.map(({ column, comparison, value }) => [column, comparison, value])),
    page: page || null,
    size: size === sizes[0] ? null : size,
  });
}

/** Columns and comparisons that do not exist are left out: an address may be old, or written by hand. */
function readState(query: URLSearchParams, { columns }: ShownTable): ShownState {
  const names = new Set(columns.map(({ name }) => name));
  const isKnown = (name: string): boolean => names.size === 0 || names.has(name);
  const sort = query.get('sort');
  const size = Number(query.get('size'));
  return {
    order: sort !== null && isKnown(sort) ? { column: sort, descending: query.has('descending') } : null,
    conditions: readConditions(query.get('filter')).filter(({ column }) => isKnown(column)),
    page: Math.max(0, Math.trunc(Number(query.get('page'))) || 0),
    size: sizes.includes(size) ? size : sizes[0]!,
  };
}

function readConditions(text: string | null): Condition[] {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(given)) return [];
  return given.flatMap((one: unknown) => {
    if (!Array.isArray(one)) return [];
    const [column, comparison, value] = one as unknown[];
    const known = comparisons.find((choice) => choice.value === comparison)?.value;
    return typeof column === 'string' && known !== undefined && typeof value === 'string'
      ? [{ column, comparison: known, value }]
      : [];
  });
}
