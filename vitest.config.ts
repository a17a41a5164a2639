/** Tests by project: those that share one process, and those that start servers. */
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

/** Whatever needs neither a server nor a process of its own. */
const pure = ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts', 'test/rules/**/*.test.ts'];

/** What `npm run test:unit` leaves out: each of these takes many seconds, starts servers or processes, or reads whole corpora. */
const longUnits = [
  'test/unit/service/access/oidc.test.ts',
  'test/unit/process/{embedded-postgres,look-processes,moved-database,schema-compiler}.test.ts',
  'test/unit/runtime/unread-answers.test.ts',
  'test/unit/engine/{deep-nesting,hard-demands}.test.ts',
  'test/unit/engine/infer/{against-xsd,kernel-collector,statistics}.test.ts',
  'test/unit/engine/map/{build-model,deciding-statistics,wide-rows}.test.ts',
  'test/unit/engine/map/corpus/**',
  'test/unit/engine/map/types/written-forms.test.ts',
  'test/unit/engine/metadata/code-lists.test.ts',
  'test/unit/engine/shred/{json-lines,kernel,kernel-members,time-offsets}.test.ts',
  'test/unit/engine/sql/{*executed,ddl}.test.ts',
  'test/unit/engine/unshred/{kernel,mutations}.test.ts',
  'test/unit/engine/xml/conformance/**',
  'test/unit/engine/xml/{limits,wasm-tokenizer,window-borders}.test.ts',
  'test/unit/engine/xsd/{corpus,limits,w3c-suite}.test.ts',
  'test/unit/service/jobs/{process-runner,service,successive-runs,worker}.test.ts',
  'test/unit/inputs/{archive-bombs,list-files}.test.ts',
  'test/unit/tools/load/one-document.test.ts',
  'test/unit/tools/spark/**',
  'test/unit/tools/validation/validators.test.ts',
];

/** What `npm test` leaves to `npm run test:rest`: many servers, kills, attacks, every kind of target and deployment. */
const rest = [
  'test/contracts/{bucket-tables,catalogue-tables,merge,parquet,remote-inputs,sftp,targets}/**/*.test.ts',
  'test/contracts/row-sinks/mysql/**/*.test.ts',
  'test/e2e/{attacks,deployments,lake,page,partitions,readme,round-trip,schemas,sources,targets}/**/*.test.ts',
  'test/e2e/{transfer,views,watches}/**/*.test.ts',
  'test/{faults,fuzz,spark}/**/*.test.ts',
];

const scope = process.env['TEST_SCOPE'];
/** The command names files: they run, whatever the scope leaves out. */
const isAsked = process.argv
  .slice(2)
  .some((argument) => !argument.startsWith('-') && /(?:^|\/)test\//.test(argument));
const leftOut = scope === 'unit' ? longUnits : [];
const ofServers = scope === 'rest' && !isAsked ? rest : ['test/**/*.test.ts'];
const leftToRest = isAsked || scope !== undefined ? [] : rest;

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: scope === 'rest' && !isAsked ? [] : pure,
          exclude: [...configDefaults.exclude, ...leftOut],
          // No module has state: files share their modules, which Node itself loads, as it does for the product.
          isolate: false,
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      {
        extends: true,
        test: { name: 'with servers', include: ofServers, exclude: [...pure, ...leftToRest] },
      },
    ],
    reporters: ['default', './test/support/skipped-reporter.ts'],
    globalSetup: [
      'test/support/service/memory-setup.ts',
      'test/support/service/build-setup.ts',
      'test/support/servers/postgres-setup.ts',
    ],
    pool: 'forks',
    // Most tests wait for servers and processes now and then: two files at once on the smallest machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Tests share few cores with real servers and processes: patience instead of flakes.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
