/** Sends requests to object stores: retries them if that may help, and describes their faults in the service's own words. */
import { AppError } from '../../errors.ts';
import { faultCode } from './xml-answers.ts';

const tries = 5;
const firstPauseMs = 200;
/** characters of an error's document */
const longestFault = 64 * 1024;
/** until the headers of an answer */
const answerMs = 60_000;

/** Returns the response to a request. The request's signal is aborted if no headers arrive in time. */
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
 * Returns responses below 300, 404, and those in `understood`; the caller reads the body. AppError `service_unavailable` for all
 * others. `mend`: returns true if the next try differs in the point for which this one was refused.
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
      fault = faultCode(text) ?? `status ${answer.status}`;
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

/** Reads the start of an error response; the rest is ignored. */
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

/** Returns the cause of a fault, because `fetch failed` says nothing. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  if (typeof cause?.code === 'string') return cause.code;
  return error instanceof Error ? error.name : String(error);
}
