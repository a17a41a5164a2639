/** Memory of writers of files that follow one another: what is new for each file keeps the garbage collector at work. */
import { ColumnsMemory } from './kernel/instance.ts';
import { PageBuffers } from './page-buffers.ts';

export class WriterMemory {
  readonly buffers = new PageBuffers();
  #rows: ColumnsMemory | null = null;
  #items: ColumnsMemory | null = null;

  get rows(): ColumnsMemory {
    return (this.#rows ??= new ColumnsMemory());
  }

  /** of items of lists */
  get items(): ColumnsMemory {
    return (this.#items ??= new ColumnsMemory());
  }
}
