/** A page of a list, or why it cannot be had. */
import { AppError } from '../../errors.ts';
import { causeOf } from './download.ts';
import type { SendGet } from './remote-requests.ts';

export interface ListPage {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/** `label`: the place as the person knows it. AppError `service_unavailable` where no whole answer comes. */
export async function listPage(send: SendGet, url: URL, label: string): Promise<ListPage> {
  return reached(label, 'listed', async () => {
    const answer = await send(url);
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  });
}

/** `label` and `what` say what could not be done. AppError `service_unavailable` for faults of the network. */
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
