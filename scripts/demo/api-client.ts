/** The few calls of the REST interface that one conversion needs. */
import { readEvents } from './server-sent-events.ts';

export interface CommandItem {
  readonly command: string;
  readonly enabled: boolean;
  readonly value?: string;
}

export interface Execution {
  readonly app_name: string;
  readonly source: { readonly file: { readonly command: string }; readonly origin_id?: CommandItem };
  readonly target: Readonly<Record<string, CommandItem | readonly CommandItem[]>>;
}

export interface Job {
  readonly id_job: number;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  readonly status: string;
  readonly progress: number | null;
  readonly msg_proc_qty: number;
  readonly start_date: number | null;
  readonly end_date: number | null;
  readonly failure: string | null;
}

export interface Origin {
  readonly id_sch: number;
  readonly name: string;
  readonly version: number;
}

export interface ApiClient {
  /** Gets an upload token, sends the bytes, answers the stored path. */
  upload(kind: 'xml' | 'xsd', name: string, bytes: Uint8Array): Promise<string>;
  run(name: string, executions: readonly Execution[]): Promise<{ jobs: number[]; id_workflow: number }>;
  job(idJob: number): Promise<Job>;
  origins(): Promise<Origin[]>;
  ddl(idSch: number): Promise<string>;
  /** The log's lines as they are written; ends when the job has. */
  followLog(idJob: number): AsyncGenerator<string, void, undefined>;
}

export function createApiClient(baseUrl: string, key: string): ApiClient {
  async function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${key}`);
    const response = await fetch(baseUrl + path, { ...init, headers });
    if (!response.ok) {
      throw new Error(`${init.method ?? 'GET'} ${path}: ${response.status} ${await response.text()}`);
    }
    return response;
  }
  const get = async <T>(path: string): Promise<T> => (await (await call(path)).json()) as T;
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { 'Content-Type': 'application/json' };
    return (await (await call(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as T;
  };

  return {
    upload: async (kind, name, bytes) => {
      const request = { kind, max_bytes: bytes.byteLength };
      const { token } = await post<{ token: string }>('/v2/file/upload/token', request);
      const query = new URLSearchParams({ token, name });
      const response = await call(`/v2/file/upload/${kind}?${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream' },
        body: new Uint8Array(bytes),
      });
      return (await response.json()) as string;
    },
    run: (name, executions) => post('/v2/run/cmd', { name, executions }),
    job: (idJob) => get(`/v2/executions/get/${idJob}`),
    origins: () => get('/v2/schema/all'),
    ddl: async (idSch) => (await call(`/v2/schema/ddl/${idSch}`)).text(),
    followLog: async function* (idJob) {
      const response = await call(`/v2/executions/log/${idJob}`, {
        headers: { Accept: 'text/event-stream' },
      });
      let rest = '';
      for await (const { event, data } of readEvents(response.body!)) {
        if (event === 'end') break;
        const lines = (rest + data).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
      if (rest !== '') yield rest;
    },
  };
}
