/** Memory of writers of files that follow one another: what is new for each file keeps the garbage collector at work. */
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
