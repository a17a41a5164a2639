/**
 * A property-based fuzzer that others wrote (schemathesis), over the OpenAPI document and a running service with data behind it.
 * `FUZZ_EXAMPLES=500 npm test -- test/e2e/clients/api-fuzzer.test.ts` is the long form; `FUZZ_SEED` repeats one run.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { needs, skipFor } from '../../support/needs.ts';
import { firstLine, pythonProgram } from '../../support/tool-cache.ts';
import { useTrial } from '../../support/service/trial.ts';

const examples = process.env['FUZZ_EXAMPLES'] ?? '10';
const seed = process.env['FUZZ_SEED'] ?? String(Math.floor(Math.random() * 1e9));

/**
 * Operations whose declared form is not all that is asked of a request: a path must lie in the organisation's folders, an option
 * must be one of the tool's, a drawing must be harmless, a time must lie ahead, an upload must fit its token, one of two lists must
 * have items, a kind of credential takes members of its own, a body may be too long before it is read, `until` must not lie before
 * `since`, and an idempotency key must be new. Requests that break such a rule are 400, 413 or 422 by decision;
 * a URL of more than 16 KiB is 431.
 */
const furtherRules = [
  'GET /v2/target/rows',
  'GET /v2/executions/all',
  'GET /v2/executions/all/{page}',
  'GET /v2/workflow/all',
  'GET /v2/workflow/all/{page}',
  'GET /v2/extensions/cil/jobs',
  'GET /v2/extensions/cil/jobs/{page}',
  'POST /v2/admin/orgs',
  'POST /v2/file/upload/token',
  'POST /v2/run/cmd',
  'POST /v2/schema/create',
  'POST /v2/schema/export',
  'POST /v2/schema/import',
  'POST /v2/diagram/svg',
  'POST /v2/admin/keys',
  'POST /v2/admin/credentials',
  'POST /v2/watches',
  'PATCH /v2/watches/{id}',
  'POST /v2/watches/{id}/run',
  'DELETE /v2/file',
  'POST /v2/file/upload/xml',
  'POST /v2/file/upload/xsd',
  'POST /v2/mapping/activate',
  'POST /v2/mapping/deactivate',
];

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let made: Conversion;
let folder: string;
let program: string | null;
/** why there is no program */
let lack = '';

beforeAll(async () => {
  program = await pythonProgram('schemathesis==4.32.5', 'schemathesis').catch((error: unknown) => {
    lack = firstLine(error);
    return null;
  });
  if (program === null) return;
  folder = await trial.folder('api-fuzzer-');
  home = await trial.home();
  service = await trial.service(home, {
    SVC_LIMITS_REQUESTS_PER_SECOND: '100000',
    SVC_LIMITS_REQUEST_BURST: '100000',
  });
  made = await convertFreight(service.client, 'freight');
});

function settings(): string {
  const refused = '400, 401, 403, 404, 409, 413, 415, 422, 429, 431';
  return furtherRules
    .map((rule) =>
      [
        '[[operations]]',
        `include-name = "${rule}"`,
        `checks.positive_data_acceptance.expected-statuses = ["2xx", ${refused}]`,
        // whatever the bytes of an upload are, they are a file
        `checks.negative_data_rejection.expected-statuses = [${rule.includes('/upload/') ? '"2xx", ' : ''}${refused}]`,
        '',
      ].join('\n'),
    )
    .join('');
}

/** The document, its examples turned into records that are there: the fuzzer begins with them. */
async function documentWithRecords(): Promise<object> {
  const document = await service.client.get<OpenApiDocument>('/doc');
  const { idSch, idWorkflow, loaded, name } = made;
  const records: Readonly<Record<string, unknown>> = {
    idSch,
    from: idSch,
    to: idSch,
    idJob: loaded.id_job,
    id_job: loaded.id_job,
    pid: loaded.id_job,
    cfxml: name,
    mapping: 'shipment',
  };
  for (const { method, path, parameters = [] } of operationsOf(document)) {
    if (method === 'DELETE') continue;
    for (const parameter of parameters) {
      const ofPath = path.includes('/get/') ? loaded.id_job : idWorkflow;
      const id = path.startsWith('/v2/schema') ? idSch : ofPath;
      const record = parameter.name === 'id' ? id : records[parameter.name];
      if (record !== undefined)
        Object.assign(parameter, { example: record, schema: { ...parameter.schema, example: record } });
    }
  }
  return document;
}

it(
  'finds nothing: no 5xx, no status or body that is not declared, nothing wrong let in',
  { timeout: 1_800_000, ...needs('whole run') },
  async (context) => {
    if (program === null) return skipFor(context, 'schemathesis', lack);
    const config = join(folder, 'schemathesis.toml');
    const document = join(folder, 'openapi.json');
    await writeFile(config, settings());
    await writeFile(document, JSON.stringify(await documentWithRecords()));
    const argv = [
      ['--config-file', config],
      ['run', document, '--url', service.url],
      ['--header', `Authorization: Bearer ${service.key}`],
      // the fuzzer cuts long answers, and a cut YAML document ends its thread
      ['--exclude-path', '/openapi.yaml'],
      ['--max-examples', examples, '--seed', seed],
      ['--continue-on-failure', '--no-color', '--warnings', 'off', '--generation-database', 'none'],
    ].flat();
    const run = await promisify(execFile)(program, argv, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error,
    );
    expect(run.code, run.stdout).toBe(0);
    // it passes what a dead thread has not tried
    expect(run.stderr).not.toContain('Exception in thread');
    expect(run.stdout).toMatch(/Tested: (?:[6-9]|1\d)\d\b/);
  },
);
