/** Which rows have the keys of their children, where an earlier version of the model has tables for both: what is there stays. */
import { useText } from '../../model/column-uses.ts';
import { useOfDraft } from '../names/history/unrecorded-meanings.ts';
import type { NameHistory, PreviousNames } from '../names/history/previous.ts';
import { settleTablePaths } from '../names/table-paths.ts';
import { sharedKeyUse } from './draw/parent-roles.ts';
import type { Drawing } from './model-builder.ts';

/**
 * `parent`, `child`: indexes of tables of the drawing; `steps`: from the row to the child. True: the row has the key of its child, false:
 * the child that of its parent, null: nothing is known of it.
 */
export type HeldKeys = (parent: number, child: number, steps: string) => boolean | null;

/** `drawing`: of the later version, in which all rows have the keys of their parents. */
export function earlierHeldKeys(
  drawing: Drawing,
  history: NameHistory,
  previous: Pick<PreviousNames, 'hasPath'>,
): HeldKeys {
  const decided = new Map<string, boolean>();
  settleTablePaths(drawing.tables, previous);
  for (const table of drawing.tables.filter(({ kind }) => kind === 'element'))
    for (const column of table.columns) {
      const { parent, steps } = column;
      if (parent === null) continue;
      const held = history.column(
        parent.usePath,
        useText('child_key', parent.usePath + steps, table.usePath),
      );
      const own = history.column(table.usePath, useOfDraft(column, table));
      const united = history.column(table.usePath, sharedKeyUse(parent));
      // of one that the last version had not, nobody knows which uses it was of
      const isUnited = united !== undefined && (united.roles?.includes(steps.slice(1)) ?? true);
      if (held === undefined && own === undefined && !isUnited) continue;
      // of both the one that the last version had
      const isHeld = held !== undefined && (own === undefined || own.former || !held.former);
      decided.set(`${parent.index} ${table.index} ${steps}`, isHeld);
    }
  return (parent, child, steps) => decided.get(`${parent} ${child} ${steps}`) ?? null;
}
