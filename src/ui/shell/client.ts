/** Calls of the interface, as any client makes them. */
import { keptKey } from './key.ts';
import { serviceUrl } from '../service-url.ts';
import type { PageChoices } from '../../http/routes/page.ts';
import type { JobRecord, StatusLetter } from '../../service/jobs/record.ts';

interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly accept?: string;
  /** sent as JSON */
  readonly body?: unknown;
  readonly signal?: AbortSignal | null;
  /** replaces the stored key */
  readonly key?: string;
}

/** Returns the answer; throws RefusedRequest if the status is no success. `path` has no slash at its start. */
export async function call(
  path: string,
  { method = 'GET', accept = 'application/json', body, signal = null, key }: Call = {},
): Promise<Response> {
  const bearer = key ?? keptKey()?.key;
  const response = await fetch(serviceUrl + path, {
    method,
    headers: {
      Accept: accept,
      ...(bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal,
    credentials: 'same-origin',
    cache: 'no-store',
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new Error('The service does not answer. Is it running, and is this machine connected to it?');
  });
  if (response.ok) return response;
  const refused = await refusalOf(response);
  if (refused.status === 401 && key === undefined)
    dispatchEvent(new CustomEvent('key-needed', { detail: bearer !== undefined }));
  throw refused;
}

export async function getJson<T>(path: string, signal: AbortSignal | null = null): Promise<T> {
  return (await (await call(path, { signal })).json()) as T;
}

export async function postJson<T>(
  path: string,
  body: unknown,
  signal: AbortSignal | null = null,
): Promise<T> {
  return (await (await call(path, { method: 'POST', body, signal })).json()) as T;
}

export interface PageOf<T> {
  readonly content: readonly T[];
  readonly page: number;
  readonly size: number;
  readonly total_elements: number;
  readonly total_pages: number;
}

/** A page of a list that cursors continue, with those of the pages beside it. */
export interface CursorPage<T> extends PageOf<T> {
  readonly next: string | null;
  readonly prev: string | null;
}

export async function getCursorPage<T>(path: string, signal: AbortSignal): Promise<CursorPage<T>> {
  const response = await call(path, { signal });
  const links = response.headers.get('Link') ?? '';
  const cursorOf = (relation: string): string | null => {
    const [, query = ''] = new RegExp(`<[^>?]*\\?([^>]*)>; rel="${relation}"`).exec(links) ?? [];
    return new URLSearchParams(query).get('cursor');
  };
  return {
    ...((await response.json()) as PageOf<T>),
    next: cursorOf('next'),
    prev: cursorOf('prev'),
  };
}

/** Sends the bytes of one file; `onProgress` gets shares from 0 to 1. The path it is stored under. */
export async function upload(
  kind: 'xml' | 'xsd',
  name: string,
  content: Blob,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const { token } = await postJson<{ token: string }>('v2/file/upload/token', { kind });
  const query = new URLSearchParams({ token, name });
  return await new Promise((resolve, reject) => {
    // fetch does not report upload progress
    const request = new XMLHttpRequest();
    request.open('POST', `${serviceUrl}v2/file/upload/${kind}?${query.toString()}`);
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress(total === 0 ? 1 : loaded / total),
    );
    request.addEventListener('load', () => {
      if (request.status === 200) resolve(JSON.parse(request.responseText) as string);
      else reject(refusal(request.status, request.responseText));
    });
    request.addEventListener('error', () => reject(new Error(`The upload of ${name} broke off. Try again.`)));
    request.addEventListener('abort', () => reject(new Error(`The upload of ${name} was cancelled.`)));
    signal.addEventListener('abort', () => request.abort());
    request.send(content);
  });
}

// A request that the service refused, in its own words (RFC 9457), with advice.

interface Complaint {
  readonly pointer: string;
  readonly detail: string;
}

interface ProblemDocument {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly Complaint[];
}

const advices: Readonly<Record<string, string>> = {
  unauthorized:
    'Open “Key” at the top and give a valid API key. The first one is in the file admin.key in the home folder of the service.',
  forbidden: 'Use a key that has this scope; a key with the scope admin makes others (POST /v2/admin/keys).',
  commands_disabled:
    'Start the service with SVC_CMD_ENABLED=true, or set cmd.enabled=true in conf/backend.properties of its home folder.',
  path_not_allowed: 'Paths lie below the folders that the operator names in svc.files.roots.',
  host_not_allowed: 'The operator names the hosts that may be reached in svc.allow.hosts.',
  too_many_requests: 'Wait a moment, then try again.',
  service_unavailable: 'Try again; the health at the top of the page tells how the service is.',
  runtime_unsupported: 'Ask a service that runs on Node.',
};

export class RefusedRequest extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly Complaint[];

  constructor(
    status: number,
    { title = `HTTP ${status}`, detail = '', code = '', errors = [] }: ProblemDocument,
  ) {
    super(detail === '' ? title : `${title}: ${detail}`);
    this.status = status;
    this.code = code;
    this.title = title;
    this.detail = detail;
    this.errors = errors;
  }

  /** advice on what to do next; null if the service's own message says it */
  get advice(): string | null {
    return advices[this.code] ?? null;
  }
}

async function refusalOf(response: Response): Promise<RefusedRequest> {
  return refusal(response.status, await response.text().catch(() => ''));
}

function refusal(status: number, text: string): RefusedRequest {
  try {
    return new RefusedRequest(status, JSON.parse(text) as ProblemDocument);
  } catch {
    return new RefusedRequest(status, { detail: text.slice(0, 200) });
  }
}

// Reads the choices of the command line for the page.

export async function readChoices(signal: AbortSignal): Promise<PageChoices> {
  return await getJson<PageChoices>('ui/choices.json', signal);
}

// Server-sent events over fetch: the browser's own EventSource sends no key.

interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** The events of a path until it ends. */
export async function* followEvents(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await call(path, { accept: 'text/event-stream', signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (buffer + value).split('\n\n');
    buffer = parts.pop()!;
    for (const part of parts) {
      const event = parseEvent(part);
      if (event !== null) yield event;
    }
  }
}

/** Returns null for a comment alone. */
function parseEvent(text: string): ServerEvent | null {
  const data: string[] = [];
  let id = '';
  let event = 'message';
  for (const line of text.split('\n')) {
    const [, field, value = ''] = /^([a-z]+):? ?([^]*)$/.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') event = value;
  }
  return data.length === 0 ? null : { id, event, data: data.join('\n') };
}

// Records as in the API, if their shape differs from that of the service itself.

export type ShownJob = Omit<JobRecord, 'status'> & { readonly status: StatusLetter };
