/** The catalogue of errors the service itself raises. Status codes are mapped in `src/http/problem.ts` alone. */

/** The meaning of an error for a caller. Texts are Markdown of one paragraph, whose only marks are those of code. */
export interface ErrorMeaning {
  readonly title: string;
  /** false: the same request fails again; true: it may pass later */
  readonly retryable: boolean;
  /** reason of the error */
  readonly cause: string;
  /** advice to the caller */
  readonly remedy: string;
  /** page of the documentation that says more, relative to docs/reference; absent if the texts say all */
  readonly page?: string;
}

export const errorCatalogue = {
  invalid_parameter: {
    title: 'A parameter is out of form or range',
    retryable: false,
    cause:
      'A parameter of the path, the query or a header has a value that the operation does not accept, or a name that it does not have.',
    remedy:
      'Correct the places that `errors` names, and send the request again. `/doc` shows the form of each parameter.',
  },
  invalid_body: {
    title: 'The request body is not as the operation wants it',
    retryable: false,
    cause: 'The body is JSON, but a member is missing, unknown or has a wrong value.',
    remedy:
      'Correct the places that `errors` names. Each is a JSON pointer into the body. `/doc` shows the form of the body.',
  },
  malformed_json: {
    title: 'The request body is not JSON',
    retryable: false,
    cause: 'The body cannot be parsed as JSON.',
    remedy: 'Send a JSON body. `detail` says where the parser stopped.',
  },
  missing_body: {
    title: 'The operation needs a request body',
    retryable: false,
    cause: 'The request has no body.',
    remedy: 'Send a JSON body with `Content-Type: application/json`.',
  },
  unknown_option: {
    title: 'The tool has no such option',
    retryable: false,
    cause: 'An execution has an option that the tool does not have, or that only the command line has.',
    remedy: 'Remove the option, or correct its name. `npx xml2er --help` lists the options of a tool.',
    page: 'options.md',
  },
  invalid_option: {
    title: 'An option of the tool is wrong',
    retryable: false,
    cause:
      'An option has a wrong value, has a value although it takes none, is given twice, or does not go with another one.',
    remedy: 'Correct the option that `detail` names. `npx xml2er --help` describes each option.',
    page: 'options.md',
  },
  path_not_allowed: {
    title: 'The path lies outside the allowed folders',
    retryable: false,
    cause: 'A path of the request leads out of the folders that the organisation may use.',
    remedy:
      'Use a path below the folder of the organisation, or ask the operator to add its folder to `svc.files.roots`.',
    page: 'properties.md',
  },
  input_not_found: {
    title: 'The input does not exist',
    retryable: false,
    cause: 'There is no file or object at a location of the request.',
    remedy: 'Upload the file first, or correct its path.',
    page: '../how-to/rest-api.md',
  },
  target_not_allowed: {
    title: 'That target may not be written',
    retryable: false,
    cause: 'The target is in no allowed folder, is reserved by the service, or its server refuses the login.',
    remedy:
      'Choose another target, or ask the operator to allow it. A source of the operator is a target only with `svc.sources.NAME.writable=true`.',
    page: 'targets.md',
  },
  target_not_owned: {
    title: 'That target belongs to another organisation',
    retryable: false,
    cause: 'Another organisation loads into a target with this name.',
    remedy: 'Choose another name for the target.',
    page: 'targets.md',
  },
  host_not_allowed: {
    title: 'That host may not be reached',
    retryable: false,
    cause:
      'The request names a host that the operator has not allowed, or an address of the internal network.',
    remedy: 'Ask the operator to add the host to `svc.allow.hosts`.',
    page: 'properties.md',
  },
  unauthorized: {
    title: 'A valid API key is needed',
    retryable: false,
    cause: 'The request has no API key, or one that is unknown, expired or revoked.',
    remedy:
      'Send `Authorization: Bearer KEY`. The first key of an installation is in the file `admin.key` in the home folder of the service.',
    page: '../how-to/access.md',
  },
  invalid_upload_token: {
    title: 'The upload token is missing, spent, expired or for another kind',
    retryable: false,
    cause: 'An upload needs a token that is valid for one upload of one kind, for five minutes.',
    remedy: 'Get a new token with `POST /v2/file/upload/token`, and upload again.',
    page: '../how-to/rest-api.md',
  },
  forbidden: {
    title: 'The key lacks the scope',
    retryable: false,
    cause: 'The API key is valid, but does not have the scope that the operation needs.',
    remedy:
      'Use a key with the scope that `detail` names. A key with the scope `admin` makes others (`POST /v2/admin/keys`).',
    page: '../how-to/access.md',
  },
  commands_disabled: {
    title: 'Running commands is switched off',
    retryable: false,
    cause: 'The installation does not run conversion commands.',
    remedy: 'Ask the operator to set `cmd.enabled=true` and to restart the service.',
    page: 'properties.md',
  },
  not_found: {
    title: 'Not found',
    retryable: false,
    cause: 'The path does not exist, or the object does not exist or belongs to another organisation.',
    remedy: 'Check the path and the id. Lists such as `GET /v2/schema/all` show the ids that exist.',
    page: 'endpoints.md',
  },
  method_not_allowed: {
    title: 'The path does not have this method',
    retryable: false,
    cause: 'The path exists, but not with the method of the request.',
    remedy: 'Use a method that the header `Allow` lists.',
    page: 'endpoints.md',
  },
  not_acceptable: {
    title: 'None of the accepted media types can be given',
    retryable: false,
    cause: 'The header `Accept` excludes every media type that the operation can send.',
    remedy: 'Send an `Accept` with one of the media types that `detail` names, or none.',
    page: 'http.md',
  },
  unsupported_media_type: {
    title: 'The media type is not understood',
    retryable: false,
    cause: 'The body has a `Content-Type` that the operation does not read, or a `Content-Encoding`.',
    remedy:
      'Send JSON bodies as `application/json`. Compressed request bodies are not accepted, so send them without `Content-Encoding`.',
    page: 'http.md',
  },
  payload_too_large: {
    title: 'The body is over its limit',
    retryable: false,
    cause: 'The request body, or the file in it, is larger than the limit that `detail` names.',
    remedy: 'Send less at a time, or ask the operator to raise the limit.',
    page: 'limits.md',
  },
  range_not_satisfiable: {
    title: 'There is nothing in that range',
    retryable: false,
    cause: 'The header `Range` names bytes behind the end of the log.',
    remedy: 'Read `Content-Range` for the present size, and ask for a range below it.',
  },
  job_not_terminal: {
    title: 'The job has not ended yet',
    retryable: true,
    cause: 'The operation needs a job that has ended, and this one is still queued or running.',
    remedy:
      'Wait until the job has ended, or kill it with `POST /v2/executions/kill/{id_job}`. Then repeat the request.',
    page: 'job-states.md',
  },
  conflict: {
    title: 'The request conflicts with what exists',
    retryable: false,
    cause: 'The name is in use, or the object is in a state that does not allow the operation.',
    remedy: 'Do what `detail` says, such as choosing another name or waiting for the end of a job.',
  },
  idempotency_key_reused: {
    title: 'The idempotency key was used for another request',
    retryable: false,
    cause: 'An earlier request with the same `Idempotency-Key` had another path or body.',
    remedy: 'Send a new `Idempotency-Key` with each new request.',
    page: 'http.md',
  },
  unprocessable_input: {
    title: 'The input cannot be converted',
    retryable: false,
    cause:
      'The XSD, the document or the statement was understood as a request, but it has a fault or exceeds a limit.',
    remedy: 'Correct the input. `detail` and `errors` name the place, with line and column if there is one.',
  },
  too_many_requests: {
    title: 'Too many requests',
    retryable: true,
    cause:
      'The key or its organisation has reached a limit: of requests, followed logs, jobs or compilations.',
    remedy:
      'Wait for the seconds of the header `Retry-After`, and repeat the request. `detail` names the limit.',
    page: 'limits.md',
  },
  runtime_unsupported: {
    title: 'This operation needs another runtime',
    retryable: false,
    cause:
      'The service runs where no processes can be started, such as an edge runtime, and the operation needs one.',
    remedy: 'Send the request to a service on Node with the same metadata database.',
    page: '../how-to/edge.md',
  },
  service_unavailable: {
    title: 'The service cannot answer now',
    retryable: true,
    cause: 'The metadata database, a store or an identity provider does not answer, or the service stops.',
    remedy:
      'Repeat the request after the seconds of the header `Retry-After`. If it lasts, `GET /actuator/health` names the part that is down.',
    page: '../how-to/monitor.md',
  },
  internal_error: {
    title: 'Unexpected fault',
    retryable: true,
    cause: 'The service has a fault.',
    remedy:
      'Repeat the request once. If the fault comes again, report it with `request_id` and the lines of the log with this id.',
  },
  // The server refuses these requests before it knows an operation.
  malformed_request: {
    title: 'The request is not HTTP as the service reads it',
    retryable: false,
    cause:
      'The request line, a header or the framing of the body is wrong, the header `Host` is missing or given twice, or the request was sent with TLS to a port without TLS.',
    remedy:
      'Send HTTP/1.1 with one `Host` header, and check that the address begins with `http:` or `https:` as the port wants it.',
  },
  request_timeout: {
    title: 'The request did not arrive in time',
    retryable: true,
    cause: 'The headers of the request did not arrive within 30 seconds.',
    remedy: 'Send the request again, on a new connection.',
  },
  headers_too_large: {
    title: 'The headers are over their limit',
    retryable: false,
    cause: 'The request line and the headers together have more than 16 KiB.',
    remedy: 'Send fewer or shorter headers and query parameters. Cookies are never needed.',
  },
  method_unknown: {
    title: 'The method is not known',
    retryable: false,
    cause: 'The method of the request is none that HTTP registers.',
    remedy: 'Use a method that `/doc` lists. Methods are written in upper case.',
    page: 'endpoints.md',
  },
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
