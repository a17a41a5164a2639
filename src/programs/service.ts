/** Programs and threads of the service by name, for bin/launch.mjs. A module does its work when it is imported. */
export const programs = {
  service: () => import('../runtime/service-main.ts'),
  worker: () => import('../runtime/worker-main.ts'),
  administer: () => import('../tools/cli/administer.ts'),
  migrate: () => import('../tools/transfer/command.ts'),
  // processes that the service starts
  look: () => import('../runtime/watches/look-child.ts'),
  fetch: () => import('../inputs/remote/fetch-child.ts'),
  read: () => import('../runtime/targets/read-child.ts'),
  // a thread of the service
  'schema-compiler': () => import('../tools/schemas/compiler-thread.ts'),
};
