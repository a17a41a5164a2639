/** Lists the targets that jobs loaded and whose rows the service reads. */
import { getJson, type PageOf, type ShownJob } from '../shell/client.ts';
import { ago, empty, fill, fillLater, h, moment } from '../parts/controls.ts';
import { searchedGrid } from '../parts/grid.ts';
import { linkTo, type ViewContext } from '../shell/views.ts';
import { sqlOf } from './statements.ts';

/** the most that one answer has */
const listed = 500;

/** Address of the rows of a target, or of one of its tables; null if the service does not read that target. */
export function rowsLink(
  target: string | null,
  more: Readonly<Record<string, string | null>> = {},
): string | null {
  return target === null || sqlOf(target) === null ? null : linkTo(['rows'], { target, ...more });
}

/** Completed loads, newest first. */
export async function completedLoads(signal: AbortSignal): Promise<PageOf<ShownJob>> {
  return await getJson<PageOf<ShownJob>>(`v2/executions/all?status=C&job_type=Parse&size=${listed}`, signal);
}

interface LoadedTarget {
  readonly target: string;
  readonly link: string;
  readonly last: ShownJob;
  readonly loads: number;
}

export async function targetListView({ main, signal, title }: ViewContext): Promise<void> {
  title('Rows');
  const list = h('div');
  fill(main, h('div', { class: 'heading' }, h('h1', {}, 'Rows')), list);
  await fillLater(list, signal, async () => {
    const { content, total_elements: total } = await completedLoads(signal);
    const targets = targetsOf(content);
    if (targets.length === 0)
      return empty(
        h('p', {}, h('strong', {}, 'No rows yet.')),
        h(
          'p',
          {},
          'Convert documents into metadb:NAME, a DuckDB or SQLite file, or a folder, and query their rows here.',
        ),
        h('a', { class: 'button main', href: linkTo(['convert']) }, 'Convert something'),
      );
    return [
      searchedGrid<LoadedTarget>(
        'Targets',
        [
          {
            label: 'Target',
            cell: ({ target, link }) => h('a', { class: 'path', href: link }, target),
            class: 'wide',
          },
          { label: 'SQL', cell: ({ target }) => sqlNames[sqlOf(target)!] },
          { label: 'Loads', cell: ({ loads }) => loads, number: true },
          {
            label: 'Last load',
            cell: ({ last }) => h('a', { href: linkTo(['jobs', last.id_job]) }, `#${last.id_job}`),
          },
          {
            label: 'Loaded',
            cell: ({ last: { end_date: end } }) =>
              end === null ? '—' : h('time', { title: moment(end) }, ago(end)),
          },
        ],
        targets,
        ({ target }) => target,
      ),
      total > listed ? h('p', { class: 'hint' }, `Targets of the newest ${listed} loads.`) : null,
    ];
  });
}

export const sqlNames = { postgresql: 'PostgreSQL', sqlite: 'SQLite', duckdb: 'DuckDB' } as const;

function targetsOf(jobs: readonly ShownJob[]): LoadedTarget[] {
  const byTarget = Map.groupBy(jobs, ({ parm_path_output: target }) => target);
  return [...byTarget].flatMap(([target, loads]) => {
    const link = rowsLink(target);
    return target === null || link === null ? [] : [{ target, link, last: loads[0]!, loads: loads.length }];
  });
}
