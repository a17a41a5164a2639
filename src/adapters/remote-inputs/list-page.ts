/** Fetches a page of a list, or throws the reason why it cannot be read. */
import { AppError } from '../../errors.ts';
import { causeOf } from './download.ts';
import type { SendGet } from './remote-requests.ts';

export interface ListPage {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/**
 * `label`: name of the place for the user. AppError `service_unavailable` if no complete answer arrives, `unprocessable_input` for one
 * without end.
 */
export async function listPage(send: SendGet, url: URL, label: string): Promise<ListPage> {
  return reached(label, 'listed', async () => {
    const answer = await send(url);
    return { ok: answer.ok, status: answer.status, text: await boundedText(answer, label) };
  });
}

/** A page names at most 5,000 files, each with its metadata. */
const longestPage = 64 * 1024 * 1024;

async function boundedText(answer: Response, label: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let total = 0;
  // leaving the loop ends the connection
  for await (const chunk of answer.body ?? []) {
    total += chunk.byteLength;
    if (total > longestPage)
      throw new AppError(
        'unprocessable_input',
        `${label}: the store sends a page of its list that is longer than ${longestPage} bytes`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** `label` and `what` describe the failed operation. AppError `service_unavailable` for faults of the network. */
export async function reached<T>(label: string, what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError || (error as Error).name === 'AbortError') throw error;
    throw new AppError('service_unavailable', `${label}: cannot be ${what} now (${causeOf(error)})`, {
      cause: error,
    });
  }
}
