/** The catalogue of errors the service itself raises. Status codes are mapped in `src/http/problem.ts` alone. */

/** The meaning of an error for a caller: `terminal` errors need another request; `retryable` ones may pass later. */
export interface ErrorMeaning {
  readonly title: string;
  readonly retryable: boolean;
}

export const errorCatalogue = {
  invalid_parameter: { title: 'A parameter is out of form or range', retryable: false },
  invalid_body: { title: 'The request body is not as the operation wants it', retryable: false },
  malformed_json: { title: 'The request body is not JSON', retryable: false },
  missing_body: { title: 'The operation needs a request body', retryable: false },
  unknown_option: { title: 'The tool has no such option', retryable: false },
  invalid_option: { title: 'An option of the tool is wrong', retryable: false },
  path_not_allowed: { title: 'The path lies outside the allowed folders', retryable: false },
  input_not_found: { title: 'The input does not exist', retryable: false },
  target_not_allowed: { title: 'That target may not be written', retryable: false },
  target_not_owned: { title: 'That target belongs to another organisation', retryable: false },
  host_not_allowed: { title: 'That host may not be reached', retryable: false },
  unauthorized: { title: 'A valid API key is needed', retryable: false },
  invalid_upload_token: {
    title: 'The upload token is missing, spent, expired or for another kind',
    retryable: false,
  },
  forbidden: { title: 'The key lacks the scope', retryable: false },
  commands_disabled: { title: 'Running commands is switched off', retryable: false },
  not_found: { title: 'Not found', retryable: false },
  method_not_allowed: { title: 'The path does not have this method', retryable: false },
  not_acceptable: { title: 'None of the accepted media types can be given', retryable: false },
  unsupported_media_type: { title: 'The media type is not understood', retryable: false },
  payload_too_large: { title: 'The body is over its limit', retryable: false },
  range_not_satisfiable: { title: 'There is nothing in that range', retryable: false },
  job_not_terminal: { title: 'The job has not ended yet', retryable: true },
  conflict: { title: 'The request conflicts with what exists', retryable: false },
  idempotency_key_reused: { title: 'The idempotency key was used for another request', retryable: false },
  unprocessable_input: { title: 'The input cannot be converted', retryable: false },
  too_many_requests: { title: 'Too many requests', retryable: true },
  runtime_unsupported: { title: 'This operation needs another runtime', retryable: false },
  service_unavailable: { title: 'The service cannot answer now', retryable: true },
  internal_error: { title: 'Unexpected fault', retryable: true },
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof errorCatalogue;

/**
 * System and SQLSTATE codes of an outage that may pass: a connection refused, lost or timed out, no way to the host, a server that
 * shuts down, has no room left (disk, memory, connections) or gave way to another session.
 */
const outageCodes =
  /^(?:ECONN|EPIPE$|ETIMEDOUT$|EHOST(?:UNREACH|DOWN)$|ENET(?:UNREACH|DOWN|RESET)$|EAI_AGAIN$|EMFILE$|ENFILE$|CONNECT_TIMEOUT$|CONNECTION_|57P0[1-5]$|08\w{3}$|25P03$|40001$|40P01$|53\w{3}$|58030$)/;

/** An outage that a job can wait for: of a server, by the label of its target, or of room on a disk. */
export type Outage = { readonly of: 'server'; readonly label: string } | { readonly of: 'room' };

const fullCodes: ReadonlySet<unknown> = new Set([
  'ENOSPC',
  'EDQUOT',
  '53100',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
]);

/** Whether an error says that a disk, or a quota of one, is full. */
export function isDiskFull(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && fullCodes.has(error.code);
}

/** The outage that a failed connection to a target, or a full disk of its server, is. `label`: of the target. */
export function serverOutage(error: unknown, label: string): Outage {
  return isDiskFull(error) ? { of: 'room' } : { of: 'server', label };
}

/** Whether an error of an adapter says that something the service needs does not answer now. */
export function isOutage(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && outageCodes.test(code);
}

/** Whether a thread met its limit of memory, or memory was asked for in one piece that the system does not have. */
export function isOutOfMemory(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY') return true;
  return (
    error instanceof RangeError &&
    /(?:allocation failed|Unable to grow instance memory|could not allocate memory)/i.test(error.message)
  );
}

/** One complaint about one place of the request: `pointer` is an RFC 6901 JSON pointer or `/query/name`. */
export interface ErrorDetail {
  readonly pointer: string;
  readonly detail: string;
}

/** Stops the service's work. What is wrong with a user's document or XSD is a `Diagnostic` instead. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: readonly ErrorDetail[];
  readonly headers: Readonly<Record<string, string>>;
  /** null if there is nothing to wait for */
  readonly outage: Outage | null;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      errors?: readonly ErrorDetail[];
      headers?: Record<string, string>;
      cause?: unknown;
      outage?: Outage;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'AppError';
    this.code = code;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
    this.outage = more.outage ?? null;
  }
}
