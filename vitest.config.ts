/** Tests by project: those that share one process, and those that start servers. */
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Whatever needs neither a server nor a process of its own. */
const pure = ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts', 'test/rules/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: pure,
          // No module has state: files share their modules, which Node itself loads, as it does for the product.
          isolate: false,
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      {
        extends: true,
        test: { name: 'with servers', include: ['test/**/*.test.ts'], exclude: pure },
      },
    ],
    reporters: ['default', './test/support/skipped-reporter.ts'],
    globalSetup: ['test/support/servers/postgres-setup.ts'],
    pool: 'forks',
    // Most tests wait for servers and processes now and then: two files at once on the smallest machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests share few cores with real servers and processes: patience instead of flakes.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
