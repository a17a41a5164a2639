/** The memory that consecutive file writers share. New memory for each file would burden the garbage collector. */
import { SpareBuffers } from '../spare-buffers.ts';
import { ColumnsMemory } from './kernel/instance.ts';

export class WriterMemory {
  readonly buffers = new SpareBuffers();
  #rows: ColumnsMemory | null = null;
  #items: ColumnsMemory | null = null;

  get rows(): ColumnsMemory {
    return (this.#rows ??= new ColumnsMemory());
  }

  /** the memory for list items */
  get items(): ColumnsMemory {
    return (this.#items ??= new ColumnsMemory());
  }
}
