/** Two helpers for clients in TypeScript: repeated requests, and all items of a paged list. They need nothing but `fetch`. */

export interface RetryOptions {
  /** how many times a request is repeated */
  readonly retries?: number;
  /** the longest wait between two tries; an answer that asks for more is returned */
  readonly longestPauseMs?: number;
}

const busy = new Set([429, 503]);
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
const safe = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Returns a `fetch` that repeats a request if the service is busy or does not answer, after the time in `Retry-After`. It repeats only
 * requests that do no harm when they are made twice: reading, removing, and those with an `Idempotency-Key`.
 */
export function retryingFetch({ retries = 5, longestPauseMs = 120_000 }: RetryOptions = {}): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const hasKey = request.headers.has('Idempotency-Key');
    // a stream can be read only once
    const isStream =
      init?.body instanceof ReadableStream || (input instanceof Request && input.body !== null);
    for (let attempt = 0; ; attempt += 1) {
      const isLast = isStream || attempt >= retries;
      let pause = Math.min(500 * 2 ** attempt, 30_000) * (0.5 + Math.random() / 2);
      try {
        const answer = await fetch(isStream ? request : request.clone());
        const asked = retryAfterMs(answer.headers.get('Retry-After'));
        const isRunning = answer.status === 409 && asked !== null && hasKey;
        const mayRepeat =
          isRunning || (busy.has(answer.status) && (hasKey || idempotent.has(request.method)));
        if (isLast || !mayRepeat || (asked ?? 0) > longestPauseMs) return answer;
        await answer.body?.cancel();
        pause = asked ?? pause;
      } catch (error) {
        // the service may have done what was asked
        if (isLast || request.signal.aborted || !(hasKey || safe.has(request.method))) throw error;
      }
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
      });
      request.signal.throwIfAborted();
    }
  };
}

/** Returns the milliseconds that a `Retry-After` of seconds or of an HTTP date asks to wait, or null without one. */
export function retryAfterMs(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(date - Date.now(), 0);
}

/** The part of an answer that pages need: one of `fetch`, or of Hono's client. */
export interface PageAnswer<Page> {
  readonly ok: boolean;
  readonly status: number;
  readonly url: string;
  readonly headers: Headers;
  json(): Promise<Page>;
}

/** The items of a page, which is an array or has `content`. */
export type ItemOf<Page> = Page extends readonly (infer Item)[]
  ? Item
  : Page extends { readonly content: readonly (infer Item)[] }
    ? Item
    : never;

/** Iterates over the items of all pages. `first`: the answer to the first request. `read`: sends a `GET` with the key. */
export async function* allItems<Page>(
  first: PageAnswer<Page>,
  read: (url: URL) => Promise<Response>,
): AsyncGenerator<ItemOf<Page>> {
  for (let answer = first; ;) {
    if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
    const page = (await answer.json()) as { content?: ItemOf<Page>[] } | ItemOf<Page>[];
    yield* Array.isArray(page) ? page : (page.content ?? []);
    const [, reference] = /<([^>]*)>;\s*rel="next"/.exec(answer.headers.get('Link') ?? '') ?? [];
    if (reference === undefined) return;
    const next = new URL(reference, answer.url);
    // requests carry the key, which must not leave the service
    if (next.origin !== new URL(answer.url).origin)
      throw new Error(`the next page is on another host: ${next.origin}`);
    answer = (await read(next)) as PageAnswer<Page>;
  }
}
