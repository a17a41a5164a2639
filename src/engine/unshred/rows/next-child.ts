/** Finds the next row among the tables that hang from a row. */
import type { RowChild, RowGroup } from '../writing-plan.ts';
import { childAtHead, positionOf, type RowKey, type TableHeads } from './children.ts';
import type { RowBytes } from './values.ts';

export interface MovingHeads extends TableHeads {
  /** Returns a number that changes whenever the table moves to another row. */
  moves(table: number): number;
}

/**
 * Caches for each group how its next row relates to the parent, while the group's table stays at that row. An element may have hundreds
 * of kinds of children, of which only one advances at a time. Reused for all elements.
 */
export class NextChild {
  /** position of the child found last; Infinity if there is none */
  position = Infinity;
  group: RowGroup | null = null;
  child: RowChild | null = null;
  readonly #moves: number[] = [];
  readonly #positions: number[] = [];
  readonly #children: (RowChild | null)[] = [];

  /** Restarts for another parent. */
  begin(groups: readonly RowGroup[]): void {
    for (let at = 0; at < groups.length; at += 1) this.#moves[at] = -1;
  }

  /** Finds the one with the lowest position, of several the first. */
  find(reader: MovingHeads, groups: readonly RowGroup[], row: RowBytes & RowKey): void {
    let first = -1;
    let position = Infinity;
    for (let at = 0; at < groups.length; at += 1) {
      const { table } = groups[at]!;
      const moves = reader.moves(table);
      if (this.#moves[at] !== moves) {
        this.#moves[at] = moves;
        this.#look(reader, groups[at]!, at, row);
      }
      if (this.#children[at] === null || (first !== -1 && this.#positions[at]! >= position)) continue;
      first = at;
      position = this.#positions[at]!;
    }
    this.position = position;
    this.group = first === -1 ? null : groups[first]!;
    this.child = first === -1 ? null : this.#children[first]!;
  }

  #look(reader: MovingHeads, group: RowGroup, at: number, row: RowBytes & RowKey): void {
    const child = childAtHead(reader, group, row, row);
    this.#children[at] = child;
    this.#positions[at] =
      child === null ? Infinity : positionOf(reader.head(group.table)!, group.positionColumn);
  }
}
