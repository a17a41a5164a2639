/** Asks a service, and keeps what it answers. */
/** Answers by method and path, errors by their code. */
export interface RecordedExamples {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly problems: Readonly<Record<string, unknown>>;
}

export interface Caller {
  readonly url: string;
  readonly key: string;
}

interface RequestParts {
  readonly body?: unknown;
  readonly headers?: object;
  /** who asks whom; without it, the service's first key */
  readonly to?: Caller;
}

export interface Recorder {
  readonly recorded: RecordedExamples;
  call(method: string, path: string, parts?: RequestParts): Promise<Response>;
  /** Calls an operation, keeps what it answers under its path in the document, and gives it. */
  record<T = Readonly<Record<string, unknown>>>(
    method: string,
    template: string,
    values?: Readonly<Record<string, string | number>>,
    parts?: RequestParts & { readonly query?: string },
  ): Promise<T>;
  /** Keeps the error that the call ends in, the first of its code. */
  fail(method: string, path: string, parts?: RequestParts): Promise<void>;
  /** Gives the path that the bytes are stored at. */
  upload(kind: 'xml' | 'xsd', name: string, bytes: Uint8Array): Promise<string>;
}

export function createRecorder(service: Caller): Recorder {
  const answers: Record<string, unknown> = {};
  const problems: Record<string, unknown> = {};

  async function call(
    method: string,
    path: string,
    { body, headers = {}, to = service }: RequestParts = {},
  ): Promise<Response> {
    const isJson = body !== undefined && !(body instanceof Uint8Array) && typeof body !== 'string';
    return await fetch(to.url + path, {
      method,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${to.key}`,
        ...(isJson ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as BodyInit) }),
    });
  }

  async function record<T>(
    method: string,
    template: string,
    values: Readonly<Record<string, string | number>> = {},
    parts: RequestParts & { readonly query?: string } = {},
  ): Promise<T> {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String(values[name])),
    );
    const response = await call(method, path + (parts.query ?? ''), parts);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const answer: unknown = /json/.test(response.headers.get('content-type') ?? '')
      ? JSON.parse(text)
      : text.slice(0, 800).replace(/\n[^\n]*$/, '\n');
    if (text !== '') answers[`${method} ${template}`] = answer;
    return answer as T;
  }

  async function fail(method: string, path: string, parts: RequestParts = {}): Promise<void> {
    const response = await call(method, path, parts);
    const problem = (await response.json()) as { readonly code: string };
    problems[problem.code] ??= problem;
  }

  async function upload(kind: 'xml' | 'xsd', name: string, bytes: Uint8Array): Promise<string> {
    const { token } = await record<{ token: string }>(
      'POST',
      '/v2/file/upload/token',
      {},
      { body: { kind } },
    );
    const query = `?token=${token}&name=${name}`;
    const headers = { 'Content-Type': 'application/octet-stream' };
    return await record<string>('POST', `/v2/file/upload/${kind}`, {}, { query, headers, body: bytes });
  }

  return { recorded: { answers, problems }, call, record, fail, upload };
}
