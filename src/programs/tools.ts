/** The tools, and the processes and threads that they start, by name, for bin/launch.mjs. A module does its work when it is imported. */
export const programs = {
  xsd2er: () => import('../tools/cli/xsd2er.ts'),
  xml2er: () => import('../tools/cli/xml2er.ts'),
  er2xml: () => import('../tools/cli/er2xml.ts'),
  unload: () => import('../tools/cli/unload.ts'),
  // processes
  'idle-watcher': () => import('../process/embedded-postgres/idle-watcher.ts'),
  'spark-load': () => import('../tools/load/spark/load-task.ts'),
  'spark-statistics': () => import('../tools/load/spark/statistics-task.ts'),
  'spark-survey': () => import('../tools/load/spark/survey-task.ts'),
  // threads
  load: () => import('../tools/load/threads/load-thread.ts'),
  columns: () => import('../tools/load/threads/columns-thread.ts'),
  heartbeat: () => import('../tools/session/heartbeat-thread.ts'),
  validator: () => import('../tools/convert/validator-thread.ts'),
  'xsd-set': () => import('../tools/schemas/xsd-set-thread.ts'),
};
