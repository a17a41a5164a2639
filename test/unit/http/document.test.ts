/** The OpenAPI document, and the pages of /doc. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../engine/metadata/block-yaml.ts';
import { createTestApp } from '../../support/memory/adapters.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly Record<string, unknown>[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    example?: unknown;
    schema: { example?: unknown };
  }[];
  readonly requestBody?: object;
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, unknown>; headers?: Record<string, unknown> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: { version: string };
  readonly tags: readonly { name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    schemas: Record<
      string,
      {
        readonly example?: unknown;
        readonly type?: string;
        readonly $ref?: string;
        readonly properties?: Readonly<
          Record<string, { readonly description?: string; readonly $ref?: string }>
        >;
      }
    >;
    examples: Record<string, { readonly value: object }>;
    headers: Record<string, object>;
    securitySchemes: Record<string, { type: string; scheme?: string; in?: string; name?: string }>;
  };
}

async function readDocument() {
  const { app } = await createTestApp();
  const document = (await (await app.request('/doc')).json()) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
  );
  return { app, document, operations };
}

/** Every operation that exists: those of docs/interface/operations.json, then extensions. */
const listed = [
  'POST /v2/run/cmd',
  'GET /v2/run/rerun/{id_job}',
  'GET /v2/executions/all',
  'GET /v2/executions/all/{page}',
  'GET /v2/executions/get/{id}',
  'GET /v2/executions/log/{id_job}',
  'GET /v2/executions/{id}',
  'GET /v2/executions/{id}/{page}',
  'GET /v2/schema/all',
  'GET /v2/schema/ddl/{idSch}',
  'GET /v2/schema/views/{idSch}',
  'GET /v2/schema/export_as/{idSch}',
  'GET /v2/schema/dictionary/{idSch}',
  'GET /v2/schema/family/{idSch}',
  'GET /v2/schema/get/max/length/{idSch}',
  'GET /v2/schema/{id}',
  'POST /v2/schema/create',
  'GET /v2/schema/generate/{idSch}',
  'GET /v2/schema/generate/{idSch}/{maxLen}',
  'GET /v2/mapping/get/{idSch}',
  'POST /v2/mapping/activate',
  'POST /v2/mapping/deactivate',
  'GET /v2/mapping/compare/{from}/{to}',
  'GET /v2/mapping/download/{idSch}',
  'GET /v2/mapping/get_stats/{idSch}',
  'GET /v2/mapping/get_stats/{idSch}/{idJob}',
  'GET /v2/diagram/get/{idSch}',
  'POST /v2/diagram/svg',
  'GET /v2/extensions/cil/job/{cfxml}',
  'GET /v2/extensions/cil/job/{cfxml}/{pid}',
  'GET /v2/extensions/cil/jobs',
  'GET /v2/extensions/cil/jobs/{page}',
  'POST /v2/extensions/cil/keys/update',
  'GET /v2/extensions/cil/keys/{cfxml}/{page}',
  'GET /v2/extensions/cil/keys/{page}',
  'GET /v2/extensions/cil/lineage/{cfxml}/{mapping}',
  'GET /v2/extensions/cil/mapping/group',
  'GET /v2/extensions/cil/mapping/{cfxml}',
  'GET /v2/extensions/cil/mappings',
  'GET /v2/extensions/cil/sequence/{cfxml}',
  'GET /v2/extensions/cil/sequences',
  'POST /v2/file/upload/xml',
  'POST /v2/file/upload/xsd',
  'GET /v2/workflow/all',
  'GET /v2/workflow/all/{page}',
  'GET /v2/workflow/getName/{id}',
  'GET /v2/workflow/{id}',
  'GET /v2/about/org',
  'GET /v2/extensions/list',
  'GET /actuator',
  'GET /actuator/health',
  'GET /actuator/health/{component}',
  'GET /actuator/health/{group}/{component}',
  'GET /actuator/info',
  ...['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'].map(
    (method) => `${method} /error`,
  ),
  'POST /v2/executions/kill/{id_job}',
  'POST /v2/watches',
  'GET /v2/watches',
  'GET /v2/watches/{id}',
  'PATCH /v2/watches/{id}',
  'DELETE /v2/watches/{id}',
  'POST /v2/watches/{id}/run',
  'GET /v2/watches/{id}/files',
  'DELETE /v2/schema/{id}',
  'DELETE /v2/executions/{id}',
  'DELETE /v2/file',
  'DELETE /v2/target',
  'GET /v2/target/rows',
  'POST /v2/target/query',
  'GET /actuator/prometheus',
  'GET /actuator/metrics',
  'GET /actuator/metrics/{name}',
  'GET /actuator/env',
  'GET /actuator/env/{name}',
  'GET /actuator/loggers',
  'GET /actuator/loggers/{name}',
  'POST /actuator/loggers/{name}',
  'GET /actuator/logfile',
  'POST /v2/admin/keys',
  'GET /v2/admin/keys',
  'DELETE /v2/admin/keys/{id_key}',
  'POST /v2/admin/orgs',
  'GET /v2/admin/orgs',
  'POST /v2/admin/credentials',
  'GET /v2/admin/credentials',
  'DELETE /v2/admin/credentials/{name}',
  'POST /v2/schema/export',
  'POST /v2/schema/import',
  'GET /v2/admin/audit',
  'GET /v2/admin/audit/{page}',
  'POST /v2/file/upload/token',
  'GET /doc',
  'GET /doc/problems',
  'GET /doc/problems/{code}',
  'GET /openapi.json',
  'GET /openapi.yaml',
  'GET /',
  'GET /doc/{asset}',
  'GET /doc/webhooks',
];

/** Named by docs/interface/operations.json, and built. */
const structures = [
  'ExecutionRequest',
  'RunCmdResponse',
  'RerunJobResponse',
  'ExecutionsResponse',
  'XMLSchema',
  'Mapping',
  'SchemaShortInfoResponse',
  'Schema',
  'CreateSchemaRequest',
  'StatsMapping',
  'MappingComparison',
  'ByteArrayResource',
  'ActivateMappingRequest',
  'ActivateMappingResponse',
  'DeactivateMappingRequest',
  'DeactivateMappingResponse',
  'Diagram',
  'SvgRequest',
  'CILJobsDto',
  'CILJobDetailsDto',
  'CILMapping',
  'CILLineage',
  'CILSequence',
  'KeysResponse',
  'UpdateKeysRequest',
  'WorkflowsResponse',
  'Workflow',
  'GetWorkflowNameResponse',
  'Org',
  'Extensions',
  'ActionParams',
  'ModelAndView',
  'Problem',
  'Job',
];

/** The other ways to write / and /doc; parts of health and files of the page at any depth, for which OpenAPI has no form. */
const undocumented = ['/*', '/ui/*', '/doc/', '/help', '/help/*', '/actuator/health/:path{.+}'];

const beside =
  /^\/(?:v2\/(?:admin|watches|target\/query|file\/upload\/token|executions\/kill)|actuator\/loggers)/;

describe('the OpenAPI document', () => {
  it('is version 1.0 in OpenAPI 3.1', async () => {
    const { document } = await readDocument();
    expect([document.openapi, document.info.version]).toEqual(['3.1.0', '1.0']);
  });

  it('lists what exists, all of it and nothing else', async () => {
    const { app, operations } = await readDocument();
    const inDocument = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(inDocument.toSorted()).toEqual(listed.toSorted());
    const routed = app.routes

      .filter(({ method, path }) => method !== 'ALL' && !undocumented.includes(path))
      .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect([...new Set(routed)].toSorted()).toEqual(listed.toSorted());
  });

  it('says what each member of each structure is', async () => {
    const { document } = await readDocument();
    const silent = Object.entries(document.components.schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties)
        // what is a structure of its own says there what it is
        .filter(([, { description, $ref }]) => !description && $ref === undefined)
        .map(([member]) => `${name}.${member}`),
    );
    expect(silent).toEqual([]);
  });

  it('shows what each operation answered, and the errors that it may end in', async () => {
    const { document, operations } = await readDocument();
    const contents = operations.flatMap(({ method, path, responses }) =>
      Object.entries(responses).flatMap(([status, { content = {} }]) =>
        Object.entries(content).map(([type, shown]) => ({
          at: `${method} ${path} ${status}`,
          // what is told of a part that does not work stands in the answer of one that does
          type: path.startsWith('/actuator/health') && status === '503' ? '' : type,
          ...(shown as { readonly example?: unknown; readonly examples?: Record<string, { $ref: string }> }),
        })),
      ),
    );
    const silent = contents.filter(
      ({ type, example }) => type === 'application/json' && example === undefined,
    );
    // documents of their own, and a view of errors that has no answer of its own
    expect(
      silent.map(({ at }) => at).filter((at) => !/ \/(?:doc(?:\/[^ ]*)?|openapi.json|error) /.test(at)),
    ).toEqual([]);
    for (const { at, type, examples = {} } of contents) {
      if (type !== 'application/problem+json' || / \/(?:doc|openapi|error)/.test(at)) continue;
      const codes = Object.keys(examples);
      expect([at, codes.length > 0]).toEqual([at, true]);
      for (const code of codes) expect(document.components.examples[code]).toMatchObject({ value: { code } });
    }
  });

  it('gives each operation one id of verb and noun, texts and a known tag', async () => {
    const { document, operations } = await readDocument();
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const operation of operations) {
      expect(operation.operationId).toMatch(/^[a-z]+[A-Z][A-Za-z]+$/);
      expect(operation.summary).toBeTruthy();
      expect(operation.description).toBeTruthy();
      // a sentence of its own, not the summary again
      expect(operation.description).not.toBe(`${operation.summary}.`);
      expect(operation.tags).toHaveLength(1);
      expect(tags).toContain(operation.tags[0]);
    }
    expect(new Set(operations.flatMap((operation) => operation.tags))).toEqual(new Set(tags));
  });

  it('declares the statuses that the contract lists, each with its body', async () => {
    const { operations } = await readDocument();
    for (const { method, path, responses } of operations) {
      // extensions list what they send: a status in front of it would take its place in clients
      const sent = beside.test(path) ? [] : ['200', ...(method === 'post' ? ['201'] : [])];
      const statuses = [...sent, '401', '403', '404'];
      expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining(statuses)]);
      for (const [status, { description, content = {} }] of Object.entries(responses)) {
        expect(description).toBeTruthy();
        if (Number(status) >= 400 && status !== '503')
          expect(Object.keys(content)).toEqual(['application/problem+json']);
      }
    }
  });

  it('declares the same content for 200 and 201 where the contract lists both', async () => {
    const { operations } = await readDocument();
    const both = operations.filter(({ responses }) => '200' in responses && '201' in responses);
    expect(both.length).toBeGreaterThan(8);
    for (const { path, responses } of both) {
      const [ok, created] = [responses['200']!, responses['201']!];
      expect([path, created.content]).toEqual([path, ok.content]);
    }
    const create = operations.find(({ path }) => path === '/v2/schema/create')!;
    expect(create.responses['200']!.content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/SchemaDetails' } },
    });
  });

  it('declares headers that are there, those of every answer among them', async () => {
    const { document, operations } = await readDocument();
    for (const { path, responses } of operations) {
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        expect([path, status, Object.keys(headers)]).toEqual([
          path,
          status,
          expect.arrayContaining(['X-Request-Id', 'X-Content-Type-Options', 'Cache-Control']),
        ]);
        for (const [name, header] of Object.entries(headers)) {
          const { $ref } = header as { readonly $ref?: string };
          if ($ref !== undefined) expect(document.components.headers).toHaveProperty([name]);
        }
      }
    }
  });

  it('says how one is let in', async () => {
    const { document, operations } = await readDocument();
    expect(document.components.securitySchemes).toMatchObject({
      apiKey: { type: 'http', scheme: 'bearer' },
      uploadToken: { type: 'apiKey', in: 'query', name: 'token' },
    });
    for (const { path, security } of operations) {
      const schemes = (security ?? []).flatMap((one) => Object.keys(one));
      if (path.startsWith('/v2/file/upload/x')) expect(schemes).toEqual(['uploadToken']);
      else if (path.startsWith('/v2')) expect(schemes).toEqual(['apiKey']);
      else expect(security).toBeDefined();
    }
  });

  it('names the structures of the contract, with an example for each', async () => {
    const { document } = await readDocument();
    const { schemas } = document.components;
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(structures));
    for (const [name, schema] of Object.entries(schemas)) {
      const alias = /^#\/components\/schemas\/(\w+)$/.exec(schema.$ref ?? '')?.[1];
      const { example } = alias === undefined ? schema : schemas[alias]!;
      expect([name, example]).not.toEqual([name, undefined]);
    }
  });

  it('describes int64 and int32 parameters as such, with examples', async () => {
    const { operations } = await readDocument();
    for (const { path, parameters = [] } of operations) {
      for (const parameter of parameters) {
        const example = parameter.example ?? parameter.schema.example;
        expect([path, parameter.name, example]).not.toEqual([path, parameter.name, undefined]);
        const ofRecord = /^id(?!_key$)/.test(parameter.name);
        const format = parameter.name === 'page' ? 'int32' : ofRecord ? 'int64' : null;
        if (format !== null) expect(parameter.schema).toMatchObject({ type: 'integer', format });
      }
    }
  });

  it('names files of the demo in the examples of requests', async () => {
    const { document, operations } = await readDocument();
    const asked = operations.flatMap(({ requestBody, parameters }) => [requestBody, parameters]);
    const structures = ['ExecutionRequest', 'CreateSchemaRequest', 'NewWatch'].map(
      (name) => document.components.schemas[name],
    );
    const named = [...JSON.stringify([asked, structures]).matchAll(/"((?:demo|uploads)\/[^"*]*)/g)].map(
      ([, path]) => path!,
    );
    expect(named.length).toBeGreaterThan(10);
    for (const path of named)
      expect([path, existsSync(new URL(`../../../scripts/${path}`, import.meta.url))]).toEqual([path, true]);
  });

  it('has examples alone as values of optional parameters, which the page tells in words', async () => {
    const { operations } = await readDocument();
    for (const { path, parameters = [] } of operations) {
      for (const parameter of parameters) {
        const { schema } = parameter;
        for (const one of [parameter, schema]) {
          expect([path, parameter.name, one]).not.toEqual([
            path,
            parameter.name,
            expect.objectContaining({ default: expect.anything() }),
          ]);
          expect(one).not.toHaveProperty('examples');
        }
      }
    }
  });

  it('says which members of requests exclude each other, and that a failed run is an answer', async () => {
    const { document } = await readDocument();
    const { schemas } = document.components;
    expect(schemas['ExportSchemaRequest']).toMatchObject({
      description: 'Exactly one of `output_path` and `az_output_path` is given.',
    });
    for (const name of ['ExportedSchema', 'ImportedSchemas'])
      expect(schemas[name]!.properties!['error']!.description).toContain('A failed run is 200, too');
  });

  it('refers to nothing that is not there', async () => {
    const { document } = await readDocument();
    for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(Object.keys(document.components.schemas)).toContain(name);
    }
  });
});

describe('GET /openapi.json and /openapi.yaml', () => {
  it('give the document of /doc, whatever Accept says', async () => {
    const { app, document } = await readDocument();
    const init = { headers: { Accept: 'text/html' } };
    const asJson = await app.request('/openapi.json', init);
    expect(asJson.headers.get('Content-Type')).toBe('application/json');
    expect(await asJson.json()).toEqual(document);
    const asYaml = await app.request('/openapi.yaml', init);
    expect(asYaml.headers.get('Content-Type')).toBe('application/yaml');
    expect(readYaml(await asYaml.text())).toEqual(document);
  });
});

describe('GET /doc', () => {
  it.each([
    ['text/html', 'text/html'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html'],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['application/json, text/html;q=0.5', 'application/json'],
    [undefined, 'application/json'],
    ['image/png', 'application/json'],
  ])('for Accept %s gives %s', async (accept, type) => {
    const { app } = await createTestApp();
    const answer = await app.request('/doc', { headers: accept === undefined ? {} : { Accept: accept } });
    expect(answer.headers.get('Content-Type')).toContain(type);
    expect(answer.headers.get('Vary')).toMatch(/^Accept\b/);
  });

  it('is a page that loads from the service alone, under a strict policy', async () => {
    const { app } = await createTestApp();
    const answer = await app.request('/doc', { headers: { Accept: 'text/html' } });
    const policy = answer.headers.get('Content-Security-Policy')!;
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const html = await answer.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link!);
    expect(links.every((link) => link.startsWith('doc/'))).toBe(true);
    expect(html).not.toMatch(/<script>|<style|style=|onload/);
    expect(await (await app.request('/doc/start.js')).text()).toContain('SwaggerUIBundle');
    const style = await app.request('/doc/swagger-ui.css');
    expect([style.status, style.headers.get('Content-Type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(style.headers.get('Cache-Control')).toBe('no-cache');
    for (const name of ['none.js', '..%2fpackage.json', 'package.json', '__proto__']) {
      expect([name, (await app.request(`/doc/${name}`)).status]).toEqual([name, 404]);
    }
  });
});
