/** Requests by several clients at once. */
import { Agent, request } from 'node:http';
import { median } from './measured-process.ts';

export interface LoadOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly clients: number;
  /** no request is begun after so long */
  readonly milliseconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly medianMs: number;
  /** 99 of 100 requests took no longer */
  readonly slowMs: number;
  /** of one answer */
  readonly bytes: number;
}

/** Connections are kept. An answer other than 2xx is an error. */
export async function sendRequests(options: LoadOptions): Promise<LoadResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.clients });
  const times: number[] = [];
  let bytes = 0;
  const started = performance.now();
  const client = async (): Promise<void> => {
    while (performance.now() - started < options.milliseconds) {
      const sent = performance.now();
      bytes = await send(options, agent);
      times.push(performance.now() - sent);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.clients }, client));
  } finally {
    agent.destroy();
  }
  const seconds = (performance.now() - started) / 1000;
  const sorted = times.toSorted((a, b) => a - b);
  const slowMs = sorted[Math.floor(sorted.length * 0.99)]!;
  return { requests: times.length, seconds, medianMs: median(times), slowMs, bytes };
}

/** Answers the bytes of the body. */
function send({ url, headers, method, body }: LoadOptions, agent: Agent): Promise<number> {
  return new Promise((settle, fail) => {
    const outgoing = request(
      url,
      {
        agent,
        method: method ?? 'GET',
        headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      },
      (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => (bytes += chunk.length));
        response.on('error', fail);
        response.on('end', () => {
          if (response.statusCode! < 300) settle(bytes);
          else fail(new Error(`${method ?? 'GET'} ${url}: ${response.statusCode}`));
        });
      },
    );
    outgoing.on('error', fail);
    outgoing.end(body);
  });
}
