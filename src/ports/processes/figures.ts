/** Resource usage of the process that answers. */
export type ProcessFigure =
  | 'process_cpu_seconds_total'
  | 'process_start_time_seconds'
  | 'process_resident_memory_bytes'
  | 'process_virtual_memory_bytes'
  | 'process_heap_bytes'
  | 'process_open_fds'
  | 'process_max_fds';

export interface ProcessFigures {
  /** Returns figures with the names that Prometheus' clients use; figures that the machine does not report are left out. */
  read(): Promise<Readonly<Partial<Record<ProcessFigure, number>>>>;
}
