/** Requests to stores of objects: tried again where that may help, and their faults in the words of the service. */
import { AppError } from '../../errors.ts';

const tries = 5;
const firstPauseMs = 200;
/** characters of an error's document */
const longestFault = 64 * 1024;
/** until the headers of an answer */
const answerMs = 60_000;

/** What comes of a request; its signal ends where no headers come in time. */
export async function inTime(ask: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), answerMs);
  try {
    return await ask(patience.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Answers below 300, 404, and those `understood`; the body is the caller's to read. AppError `service_unavailable` for all else.
 * `mend`: true where the next try differs in what this one was refused for.
 */
export async function answered(
  attempt: () => Promise<Response>,
  understood: readonly number[],
  mend: (fault: string, answer: Response) => boolean = () => false,
): Promise<Response> {
  for (let number = 1; ; number += 1) {
    let answer: Response | null = null;
    let fault = 'no answer';
    try {
      answer = await attempt();
      if (answer.ok || answer.status === 404 || understood.includes(answer.status)) return answer;
      const text = await startOf(answer);
      fault = /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? `status ${answer.status}`;
    } catch (error) {
      // a host that may not be reached, above all
      if (error instanceof AppError && error.code !== 'service_unavailable') throw error;
      fault = causeOf(error);
    }
    if (answer !== null && number < tries && mend(fault, answer)) continue;
    const passing = answer === null || answer.status >= 500 || answer.status === 429;
    if (!passing || number === tries) {
      throw new AppError('service_unavailable', `the object store cannot be used now (${fault})`);
    }
    await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** (number - 1)));
  }
}

/** What is read of an answer that says why: an error is no place for more. */
async function startOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    // leaving the loop cancels the rest
    if (text.length > longestFault) break;
  }
  return text;
}

/** `fetch failed` says nothing; what it was caused by does. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof Error ? error.name : String(error);
}

/**
 * The body, which fails where it ends before its length. It is taken hold of at once: of an answer that nobody refers to any more
 * Node cancels the body when it collects garbage, and then it would only be empty.
 */
export function wholeBody(answer: Response): ReadableStream<Uint8Array> {
  const { body } = answer;
  if (body === null) return new Blob([]).stream();
  const length = answer.headers.get('content-length');
  const encoded = answer.headers.has('content-encoding');
  const reader = body.getReader();
  let received = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          received += value.byteLength;
          controller.enqueue(value);
        } else if (length !== null && !encoded && received !== Number(length)) {
          throw new AppError(
            'service_unavailable',
            `the object store ended an object of ${length} bytes after ${received}`,
          );
        } else controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
