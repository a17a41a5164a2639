/** The entry `conversion-job-service/targets`, for modules that register kinds of targets: it loads little, as every tool imports them. */
export { registerTarget } from './service/jobs/request/target.ts';
export type { RegisteredTarget, RowBatch, RowChange, RowStorePlace, RowStore } from './ports/row-sink.ts';
