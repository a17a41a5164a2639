/** The contract of the interface, docs/interface/operations.json, operation by operation, against the OpenAPI document. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import {
  operationsOf,
  type DocumentParameter,
  type ListedOperation,
  type OpenApiDocument,
} from '../../support/openapi-document.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly statuses: readonly string[];
  /** types of path parameters */
  readonly parameters?: Readonly<Record<string, 'int64' | 'int32' | 'integer' | 'string'>>;
  /** types of required query parameters */
  readonly query?: Readonly<Record<string, 'string'>>;
  readonly body?: string;
  readonly bodyMediaTypes?: readonly string[];
  /** a structure, or an array of one; null: no content is declared */
  readonly answer?: string | readonly [string] | null;
  readonly answerMediaType?: string;
}

interface Contract {
  readonly operations: readonly Operation[];
  readonly structures: readonly string[];
  readonly jobRecord: readonly string[];
}

const contractFile = new URL('../../../docs/interface/operations.json', import.meta.url);
const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as Contract;

const named = (one: ListedOperation, name: string): DocumentParameter | undefined =>
  one.parameters?.find((parameter) => parameter.name === name);

/** Where the component of that name refers to another one, operations do so too. */
function aliased({ components }: OpenApiDocument, structure: string): string {
  const { $ref } = components.schemas[structure] as { readonly $ref?: string };
  return $ref ?? `#/components/schemas/${structure}`;
}

describe('the operations of the contract', async () => {
  const { app } = await createTestApp();
  const document = (await (await app.request('/doc')).json()) as OpenApiDocument;
  const operations = operationsOf(document);

  it('are read whole', () => {
    expect(contract.operations).toHaveLength(61);
    expect(contract.operations.filter(({ path }) => path.startsWith('/v2/extensions/cil'))).toHaveLength(13);
  });

  it.each(contract.operations.map((one) => [`${one.method} ${one.path}`, one] as const))(
    '%s',
    (_, listed) => {
      const one = operations.find(({ method, path }) => method === listed.method && path === listed.path);
      expect(one, 'in the document').toBeDefined();
      expect(Object.keys(one!.responses)).toEqual(expect.arrayContaining([...listed.statuses]));

      const inPath = [...listed.path.matchAll(/{(\w+)}/g)].map(([, name]) => name!);
      for (const name of inPath) expect(named(one!, name)).toMatchObject({ in: 'path', required: true });
      for (const [name, type] of Object.entries(listed.parameters ?? {})) {
        expect(inPath).toContain(name);
        const { schema } = named(one!, name)!;
        expect(schema).toMatchObject({ type: type === 'string' ? 'string' : 'integer' });
        if (/^int\d/.test(type)) expect(schema['format']).toBe(type);
      }
      for (const [name, type] of Object.entries(listed.query ?? {}))
        expect(named(one!, name)).toMatchObject({ in: 'query', required: true, schema: { type } });

      if (listed.body !== undefined)
        expect(one!.requestBody?.content['application/json']?.schema).toEqual({
          $ref: `#/components/schemas/${listed.body}`,
        });
      if (listed.bodyMediaTypes !== undefined)
        expect(Object.keys(one!.requestBody!.content)).toEqual(
          expect.arrayContaining([...listed.bodyMediaTypes]),
        );

      if (listed.answer === null)
        for (const status of ['200', '201'])
          expect(one!.responses[status] ?? {}).not.toHaveProperty('content');
      else if (listed.answer !== undefined) {
        const structure = typeof listed.answer === 'string' ? listed.answer : listed.answer[0];
        // of the statuses listed, the one that is sent has the content
        const schemas = JSON.stringify(['200', '201'].map((status) => one!.responses[status]?.content ?? {}));
        expect(schemas).toContain(`"${aliased(document, structure)}"`);
        if (structure !== listed.answer) expect(schemas).toContain('"type":"array"');
      }
      if (listed.answerMediaType !== undefined)
        expect(Object.keys(one!.responses['200']!.content!)).toContain(listed.answerMediaType);
    },
  );

  it('name structures that are all there', () => {
    expect(contract.structures.length).toBeGreaterThan(30);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([...contract.structures]),
    );
  });

  it('list the fields of the job record', () => {
    expect(contract.jobRecord).toHaveLength(19);
    const job = document.components.schemas['Job'] as { readonly properties: object };
    expect(Object.keys(job.properties)).toEqual(expect.arrayContaining([...contract.jobRecord]));
  });
});
