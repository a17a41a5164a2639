/** The REST interface as a client sees it: real requests, and the answers as they come. */
import { eventually } from './waiting.ts';

/** docs/decisions/service/job-queue.md: the job record. */
export interface JobAnswer {
  readonly id_job: number;
  readonly id_parent_job: number | null;
  readonly id_org: number;
  readonly id_sch: number | null;
  readonly id_lschma: number | null;
  readonly id_app: string | null;
  readonly job_type: string;
  readonly status: string;
  readonly params: string;
  readonly params_json: string;
  readonly host: string | null;
  readonly os_user: string | null;
  readonly base_path: string | null;
  readonly parm_path_input: string | null;
  readonly parm_path_output: string | null;
  readonly msg_proc_qty: number;
  readonly log_file: string | null;
  readonly start_date: number | null;
  readonly end_date: number | null;
  readonly id_workflow: number;
  readonly attempt: number;
  readonly progress: number | null;
  readonly failure: string | null;
}

export interface MappingAnswer {
  readonly id_map: number;
  readonly id_sch: number;
  readonly id_lschma: number;
  readonly xpath: string | null;
  readonly node_type: 'element' | 'attribute' | 'text' | 'mixed' | 'any';
  readonly source_type: string;
  readonly min_occurs: number;
  readonly max_occurs: number | null;
  readonly id_tab: number;
  readonly table_name: string;
  readonly column_name: string | null;
  readonly data_type: string | null;
  readonly nullable: boolean;
  readonly key: 'PK' | 'FK' | null;
}

export interface SchemaAnswer {
  readonly id_sch: number;
  readonly id_lschma: number | null;
  readonly id_job: number | null;
  readonly name: string;
  readonly version: number;
  readonly source_type: string;
  readonly root_elements: readonly string[];
  readonly target_namespace: string | null;
  readonly namespaces: Readonly<Record<string, string>>;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly sha256: string }[];
  readonly map_level: number;
  readonly table_count: number;
  readonly mapping_count: number;
}

export interface RunAnswer {
  readonly error: boolean;
  readonly logPath: string | null;
  readonly cmds: readonly string[];
  readonly jobs: readonly number[];
  readonly id_workflow: number;
}

export interface Problem {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
}

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** Options as a request groups them; where they stand does not matter to the service. */
export type Options = readonly (readonly [flag: string, value?: string])[];

export interface ServiceClient {
  /** With the first key, unless `headers` name another. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  get<T>(path: string): Promise<T>;
  post<T = Problem>(path: string, body?: unknown): Promise<Answer<T>>;
  /** A token, then the bytes; the stored path. */
  upload(kind: 'xml' | 'xsd', name: string, bytes: Uint8Array): Promise<string>;
  /** Throws where the request is refused. */
  run(executions: readonly unknown[], name?: string): Promise<RunAnswer>;
  job(idJob: number): Promise<JobAnswer>;
  /** The record once its status is terminal. */
  ended(idJob: number): Promise<JobAnswer>;
  /** The record once the job runs and its tool has said so in the log. */
  running(idJob: number): Promise<JobAnswer>;
  log(idJob: number): Promise<string>;
}

export const terminalStatuses = ['C', 'F', 'K', 'E', 'L'];

/** An execution of a run request; `input` is a stored path. */
export function execution(tool: string, input: string, options: Options = [], origin?: string): unknown {
  return {
    app_name: tool,
    source: {
      file: { command: input },
      ...(origin === undefined ? {} : { origin_id: { command: '-x', enabled: true, value: origin } }),
    },
    target: {
      generation: options.map(([command, value]) => ({
        command,
        enabled: 'true',
        ...(value === undefined ? {} : { value }),
      })),
    },
  };
}

/** Takes a request to the service, over a connection or within the process. */
export type Send = (address: string, init?: RequestInit) => Promise<Response>;

export function createServiceClient(url: string, key: string, deliver: Send = fetch): ServiceClient {
  const send = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${key}`);
    return deliver(url + path, { ...init, headers });
  };
  const get = async <T>(path: string): Promise<T> => {
    const response = await send(path);
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const post = async <T>(path: string, body?: unknown): Promise<Answer<T>> => {
    const response = await send(path, {
      method: 'POST',
      ...(body === undefined
        ? {}
        : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as T };
  };
  const job = (idJob: number): Promise<JobAnswer> => get(`/v2/executions/get/${idJob}`);
  const log = async (idJob: number): Promise<string> =>
    (await send(`/v2/executions/log/${idJob}`, { headers: { Accept: 'text/plain' } })).text();

  return {
    fetch: send,
    get,
    post,
    job,
    log,
    async upload(kind, name, bytes) {
      const { body } = await post<{ token: string }>('/v2/file/upload/token', { kind });
      const query = new URLSearchParams({ token: body.token, name });
      const response = await deliver(`${url}/v2/file/upload/${kind}?${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream' },
        body: new Uint8Array(bytes),
      });
      if (response.status !== 200) throw new Error(`upload: ${response.status} ${await response.text()}`);
      return (await response.json()) as string;
    },
    async run(executions, name) {
      const request = name === undefined ? { executions } : { name, executions };
      const { status, body } = await post<RunAnswer>('/v2/run/cmd', request);
      if (status !== 200) throw new Error(`run: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    ended: (idJob) =>
      eventually(
        `the end of job ${idJob}`,
        async () => {
          const record = await job(idJob);
          return terminalStatuses.includes(record.status) ? record : null;
        },
        20,
        100,
      ),
    running: (idJob) =>
      eventually(`job ${idJob} running`, async () => {
        const record = await job(idJob);
        if (terminalStatuses.includes(record.status))
          throw new Error(`job ${idJob} ended before it was seen running: ${JSON.stringify(record)}`);
        return record.status === 'R' && (await log(idJob)).includes('started, job') ? record : null;
      }),
  };
}
