/** The endpoint tables and the structures of the interface specification, row by row, against the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import {
  operationsOf,
  type DocumentParameter,
  type ListedOperation,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';
import { isHere, needs, specificationFile } from '../../support/needs.ts';

interface Row {
  readonly method: string;
  readonly path: string;
  readonly request: string;
  readonly response: string;
}

function endpointRows(text: string): readonly Row[] {
  const rows: Row[] = [];
  for (const line of text.split('\n')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, methods = '', path = '', third = '', fourth] = cells;
    if (!/^(?:GET|PUT|POST|DELETE|OPTIONS|HEAD|PATCH|TRACE)\b/.test(methods) || !path.startsWith('/'))
      continue;
    // the table of operational endpoints has no column for the request
    const [request, response] = fourth === undefined || fourth === '' ? ['none', third] : [third, fourth];
    for (const method of methods.split(/,\s*/)) rows.push({ method, path, request, response });
  }
  return rows;
}

/** `path id_job (int64), page (int32)` to names and formats; text in other forms has none. */
function pathParameters(request: string): readonly (readonly [name: string, type: string])[] {
  return [...request.matchAll(/\b(\w+) \((int64|int32|string|integer, arbitrary size)(?:, [^)]*)?\)/g)]
    .filter(([, name]) => name !== 'token')
    .map(([, name = '', type = '']) => [name, type]);
}

/** Statuses that the specification lists: section 4's first line, and what the row says of `/error`. */
function statusesOf({ method, path }: Row): readonly string[] {
  const common = ['200', '401', '403', '404'];
  if (path === '/error')
    return [
      ...common,
      ...(/PUT|POST/.test(method) ? ['201'] : []),
      ...(/DELETE|OPTIONS|HEAD|PATCH|TRACE/.test(method) ? ['204'] : []),
    ];
  return method === 'POST' ? [...common, '201'] : common;
}

const named = (one: ListedOperation, name: string): DocumentParameter | undefined =>
  one.parameters?.find((parameter) => parameter.name === name);

/** Where the component of that name refers to another one, operations do so too. */
function aliased({ components }: OpenApiDocument, structure: string): string {
  const { $ref } = components.schemas[structure] as { readonly $ref?: string };
  return $ref ?? `#/components/schemas/${structure}`;
}

/** `/actuator/health/**` has no form in OpenAPI: one operation for each depth that health components have. */
const pathsOf = (path: string): readonly string[] =>
  path === '/actuator/health/**'
    ? ['/actuator/health/{component}', '/actuator/health/{group}/{component}']
    : [path];

describe('the specification’s endpoint tables', needs('specification'), async () => {
  const text = isHere('specification') ? readFileSync(specificationFile, 'utf8') : '';
  const rows = endpointRows(text);
  const { app } = await createTestApp();
  const document = (await (await app.request('/doc')).json()) as OpenApiDocument;
  const operations = operationsOf(document);
  const find = (method: string, path: string): ListedOperation | undefined =>
    operations.find((one) => one.method === method && one.path === path);
  it('are read whole', () => {
    expect(rows).toHaveLength(60);
    expect(rows.filter(({ path }) => path.startsWith('/v2/extensions/cil'))).toHaveLength(13);
  });

  const exportAndImport = /^\/v2\/schema\/(?:export|import)$/;
  const whole = rows.flatMap((row) => pathsOf(row.path).map((path) => ({ ...row, path })));

  it.each(whole.map((row) => [`${row.method} ${row.path}`, row] as const))('%s', (_, row) => {
    const one = find(row.method, row.path);
    expect(one, 'in the document').toBeDefined();
    expect(Object.keys(one!.responses)).toEqual(expect.arrayContaining([...statusesOf(row)]));

    const inPath = [...row.path.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
    for (const name of inPath) expect(named(one!, name)).toMatchObject({ in: 'path', required: true });
    const described = pathParameters(row.request);
    for (const [name, type] of described) {
      expect(inPath).toContain(name);
      const { schema } = named(one!, name)!;
      if (type === 'string') expect(schema).toMatchObject({ type: 'string' });
      else if (type.startsWith('int')) expect(schema).toMatchObject({ type: 'integer' });
      if (/^int\d/.test(type)) expect(schema['format']).toBe(type);
    }
    if (/parameter token/.test(row.request))
      expect(named(one!, 'token')).toMatchObject({ in: 'query', required: true, schema: { type: 'string' } });

    const body = /JSON body (\w+)/.exec(row.request)?.[1];
    if (body !== undefined)
      expect(one!.requestBody?.content['application/json']?.schema).toEqual({
        $ref: `#/components/schemas/${body}`,
      });
    if (/body binary/.test(row.request))
      expect(Object.keys(one!.requestBody!.content)).toEqual(
        expect.arrayContaining(['application/json', 'application/octet-stream']),
      );

    if (row.response.includes('without declared body'))
      for (const status of ['200', '201']) expect(one!.responses[status] ?? {}).not.toHaveProperty('content');

    const answered = /^(?:array of )?([A-Z]\w+(?:Dto)?)\b/.exec(row.response)?.[1];
    const structure = answered === 'Job' ? 'Job' : answered;
    if (structure !== undefined && !/^(?:JSON)$/.test(structure) && !exportAndImport.test(row.path)) {
      // of the statuses listed, the one that is sent has the content
      const sent = ['200', '201'].map((status) => one!.responses[status]?.content ?? {});
      const schemas = JSON.stringify(sent);
      expect(schemas).toContain(`"${aliased(document, structure)}"`);
      if (row.response.startsWith('array of')) expect(schemas).toContain('"type":"array"');
    }
    if (/text\/(plain|html)/.test(row.response) && row.method !== 'HEAD')
      expect(Object.keys(one!.responses['200']!.content!)).toContain(/text\/\w+/.exec(row.response)![0]);
  });

  it('name structures that are all there', () => {
    const list = /following structures are named[^.]*\. ([^\n]*)\./.exec(text)![1]!;
    const names = ['ActionParams', 'ExecutionRequest', 'RunCmdResponse', ...list.split(/,\s*/)];
    expect(names.length).toBeGreaterThan(30);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names));
  });

  it('list the fields of the job record', () => {
    const section = text.slice(text.indexOf('### Job record'), text.indexOf('### Run-command request'));
    const fields = [...section.matchAll(/^\| (\w+) \| (?!Type)/gm)].map(([, name]) => name!);
    expect(fields).toHaveLength(19);
    const job = document.components.schemas['Job'] as { readonly properties: object };
    expect(Object.keys(job.properties)).toEqual(expect.arrayContaining(fields));
  });
});
