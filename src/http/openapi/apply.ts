/**
 * Adds recorded answers and errors of a service to its operations. `npm run examples` records them again from a service that converts
 * the orders of the demo.
 */
import type { ErrorCode } from '../../errors.ts';
import recorded from './recorded.json' with { type: 'json' };

interface Described {
  readonly parameters?: readonly object[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, unknown>> };
  readonly responses?: Readonly<Record<string, DescribedAnswer>>;
}

interface DescribedAnswer {
  readonly content?: Readonly<Record<string, Content>>;
}

interface Content {
  readonly schema?: { readonly type?: string };
  example?: unknown;
  examples?: Record<string, { readonly $ref: string }>;
}

const problems: Readonly<Partial<Record<ErrorCode, { readonly status: number; readonly title: string }>>> =
  recorded.problems;
const answers: Readonly<Record<string, unknown>> = recorded.answers;

const tools = /^\/v2\/(?:run|schema\/(?:create|export(?!_)|import))/;

/** Operations that may end in an error, for those errors that not every operation of its status has. */
const isPossible: Partial<Record<ErrorCode, (path: string, operation: Described) => boolean>> = {
  invalid_body: (_, operation) => readsJson(operation),
  malformed_json: (_, operation) => readsJson(operation),
  missing_body: (_, operation) => readsJson(operation),
  unknown_option: (path) => path === '/v2/run/cmd',
  invalid_option: (path) => path === '/v2/run/cmd',
  path_not_allowed: (path) => tools.test(path),
  input_not_found: (path) => tools.test(path),
  target_not_allowed: (path) => path === '/v2/run/cmd',
  target_not_owned: (path) => path === '/v2/run/cmd' || path === '/v2/target',
  host_not_allowed: (path) => tools.test(path),
  commands_disabled: (path) => path.startsWith('/v2/run/'),
  unauthorized: (path) => !path.startsWith('/v2/file/upload/x'),
  invalid_upload_token: (path) => path.startsWith('/v2/file/upload/x'),
  job_not_terminal: (path) => /^\/v2\/(?:run\/rerun|executions)\//.test(path),
  conflict: (path) => !path.startsWith('/v2/run/rerun/'),
  idempotency_key_reused: (_, operation) => takesIdempotencyKey(operation),
  unprocessable_input: (path) => /^\/v2\/(?:schema\/(?:create|generate)|target\/(?:rows|query)$)/.test(path),
};

/** The examples of the codes, to be referred to. */
export function problemExamples(
  codes: ReadonlySet<string>,
): Record<string, { summary: string; value: object }> {
  return Object.fromEntries(
    Object.entries(problems)
      .filter(([code]) => codes.has(code))
      .map(([code, value]) => [code, { summary: value.title, value }]),
  );
}

/** Adds the recorded answer of the operation, and its possible errors; returns the codes of these. */
export function showExamples(method: string, path: string, operation: Described): readonly string[] {
  const answer = answers[`${method.toUpperCase()} ${path}`];
  const codes: string[] = [];
  for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
    for (const [type, shown] of Object.entries(content)) {
      if (type === 'application/problem+json') {
        shown.examples = examplesOf(Number(status), path, operation);
        codes.push(...Object.keys(shown.examples));
      } else if (
        answer !== undefined &&
        Number(status) < 300 &&
        isOfType(answer, type) &&
        isOfForm(answer, shown)
      )
        shown.example = answer;
    }
  }
  return codes;
}

function examplesOf(status: number, path: string, operation: Described): Record<string, { $ref: string }> {
  const codes = Object.entries(problems)
    .filter(([, problem]) => problem.status === status)
    .map(([code]) => code as ErrorCode)
    .filter((code) => isPossible[code]?.(path, operation) ?? true);
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
}

function takesIdempotencyKey({ parameters = [] }: Described): boolean {
  return parameters.some((one) => 'name' in one && /^idempotency-key$/i.test(String(one.name)));
}

function readsJson({ requestBody }: Described): boolean {
  return requestBody?.content?.['application/json'] !== undefined;
}

/** One recorded answer may stand for several media types, of which some are arrays. */
function isOfForm(answer: unknown, { schema }: Content): boolean {
  return schema?.type === undefined || (schema.type === 'array') === Array.isArray(answer);
}

/** The log is text within its JSON, a script is text alone. */
function isOfType(answer: unknown, type: string): boolean {
  if (type.endsWith('json')) return typeof answer !== 'string' || answer.startsWith('uploads/');
  return type === 'text/plain' && typeof answer === 'string';
}
