/** Calls of the interface, as any client makes them. */
import { keptKey } from './key.ts';
import { refusal, refusalOf } from './refused.ts';
import { serviceUrl } from '../service-url.ts';

interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
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

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  return (await (await call(path, { method: 'POST', body })).json()) as T;
}

export interface PageOf<T> {
  readonly content: readonly T[];
  readonly page: number;
  readonly size: number;
  readonly total_elements: number;
  readonly total_pages: number;
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
