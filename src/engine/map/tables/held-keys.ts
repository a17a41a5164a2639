/** Decides which rows have the keys of their children if an earlier version of the model has tables for both: existing keys stay. */
import { useText } from '../../model/column-uses.ts';
import type { NameHistory } from '../names/history/previous.ts';

/**
 * Returns which end has the key. `parent`, `child`: paths of tables; `steps`: from the row to the child. True: the row has the key of its
 * child; false: the child has that of its parent; null: unknown.
 */
export type HeldKeys = (parent: string, child: string, steps: string) => boolean | null;

export function earlierHeldKeys(history: NameHistory): HeldKeys {
  return (parent, child, steps) => {
    const held = history.column(parent, useText('child_key', parent + steps, child));
    const own = history.column(child, useText('parent_key', parent + steps, parent));
    const united = history.column(child, useText('parent_key', parent, parent));
    // if the last version did not have the united key, its uses are not known
    const isUnited = united !== undefined && (united.roles?.includes(steps.slice(1)) ?? true);
    if (held === undefined && own === undefined && !isUnited) return null;
    // if both keys exist, the one that the last version had
    return held !== undefined && (own === undefined || own.former || !held.former);
  };
}
