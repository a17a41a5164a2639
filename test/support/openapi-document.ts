/** The OpenAPI document as tests read it, and answers held against it. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const withoutDeclaredBody = new Set([
  'generateSchema',
  'generateSchemaWithin',
  'saveDiagram',
  'updateCilKeys',
]);

export interface DocumentParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly parameters?: readonly DocumentParameter[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: unknown }>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema: unknown }>>;
        readonly headers?: Readonly<Record<string, unknown>>;
      }
    >
  >;
}

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly example?: unknown; readonly $ref?: string }>>;
  };
}

export interface ListedOperation extends DocumentOperation {
  /** upper case */
  readonly method: string;
  /** as the document writes it, with `{…}` */
  readonly path: string;
}

export function operationsOf(document: OpenApiDocument): readonly ListedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface DocumentChecker {
  /** What the answer breaks of the operation's declaration; none when all is as declared. */
  complaints(operation: ListedOperation, answer: Answered): readonly string[];
  /** What an example breaks of its own structure. */
  exampleComplaints(name: string): readonly string[];
}

export function createDocumentChecker(document: OpenApiDocument): DocumentChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  formats.default(ajv);
  for (const name of ['int32', 'binary']) ajv.addFormat(name, true);
  ajv.addFormat('int64', { type: 'number', validate: (value: number) => Number.isInteger(value) });
  ajv.addSchema(withoutFurtherMembers(document), 'document');
  const compiled = new Map<string, ValidateFunction>();

  function validator(pointer: readonly string[]): ValidateFunction {
    const ref = `document#/${pointer.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    const known = compiled.get(ref) ?? ajv.compile({ $ref: ref });
    compiled.set(ref, known);
    return known;
  }

  return {
    complaints(operation, { status, headers, text }) {
      const { method, path, responses } = operation;
      const declared = responses[String(status)];
      if (declared === undefined) return [`${status} is not declared: ${text.slice(0, 300)}`];
      const undeclared = undeclaredHeaders(declared.headers ?? {}, headers);
      if (undeclared.length > 0) return [`${status} with undeclared headers: ${undeclared.join(', ')}`];
      const type = (headers.get('Content-Type') ?? '').split(';')[0]!.trim();
      const content = declared.content ?? {};
      if (status >= 400 && status !== 503 && type !== 'application/problem+json')
        return [`${status} as ${type || 'nothing'}`];
      if (text === '')
        return Object.keys(content).length === 0 ||
          method === 'HEAD' ||
          (type === 'text/plain' && content[type] !== undefined)
          ? []
          : [`${status} without a body`];
      // docs/interface/operations.json has no declared content for these, and lets them send one.
      if (status === 200 && withoutDeclaredBody.has(operation.operationId) && type === 'application/json')
        return [];
      if (content[type] === undefined) return [`${status} as ${type}, which is not declared`];
      if (!/[/+]json$/.test(type)) return [];
      const steps = [
        'paths',
        path,
        method.toLowerCase(),
        'responses',
        String(status),
        'content',
        type,
        'schema',
      ];
      return broken(validator(steps), JSON.parse(text) as unknown);
    },
    exampleComplaints(name) {
      const { $ref, example } = document.components.schemas[name] ?? {};
      if ($ref !== undefined) return [];
      return example === undefined
        ? ['has no example']
        : broken(validator(['components', 'schemas', name]), example);
    },
  };
}

/** Headers of the connection and of the message itself (RFC 9110 sections 6.6 and 8, RFC 9112). */
const ofMessage = new Set([
  'content-type',
  'content-length',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

/** Names of the sent headers that are not declared. */
export function undeclaredHeaders(declared: Readonly<Record<string, unknown>>, sent: Headers): string[] {
  const names = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  return [...sent.keys()].filter((name) => !names.has(name) && !ofMessage.has(name));
}

/** Clients are told that answers may gain members; tests are told of each that is sent and not described. */
function withoutFurtherMembers(document: OpenApiDocument): OpenApiDocument {
  return JSON.parse(JSON.stringify(document), (_, value: Record<string, unknown> | null) =>
    value !== null && value['type'] === 'object' && value['properties'] !== undefined
      ? { additionalProperties: false, ...value }
      : value,
  ) as OpenApiDocument;
}

function broken(validate: ValidateFunction, value: unknown): string[] {
  if (validate(value) === true) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath || '/'} ${error.message}`);
}
