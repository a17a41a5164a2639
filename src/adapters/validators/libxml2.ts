/**
 * Checks documents with libxml2 in WebAssembly, in a thread that is ended when a document takes too long, and restarted after a
 * document has broken it: only that document is lost. Each document is held as a tree.
 */
import { once } from 'node:events';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import type { StandaloneXsdSet } from '../../engine/xsd/read/standalone-set.ts';
import type { DocumentValidator, Validity } from '../../ports/processes.ts';
import { allowedMs, notInTime, notJudged, uncheckable, type SetFault } from './messages.ts';

export interface Libxml2Options {
  /** starts the thread, which posts a `Libxml2Opened` for the XSD set in its workerData, then a Validity for each document */
  readonly startThread: (options: WorkerOptions) => Worker;
  /** time for a small document (`allowedMs`); the set gets ten times as much */
  readonly timeMs: number;
  /** ends the thread and the check */
  readonly interrupted?: AbortSignal;
}

export type Libxml2Opened = { readonly opened: true } | { readonly faults: readonly SetFault[] };

/** A tree takes ten times its document. */
const maxDocumentBytes = 50 * 1024 * 1024;
const program = 'libxml2 (WebAssembly)';

export async function createLibxml2Validator(
  set: StandaloneXsdSet,
  { startThread, timeMs, interrupted = new AbortController().signal }: Libxml2Options,
): Promise<DocumentValidator> {
  async function begin(): Promise<Worker> {
    const thread = startThread({ workerData: set, env: {} });
    // also when nobody waits for an answer; the next request learns that there is none
    thread.on('error', () => undefined);
    const answer = await answerOf<Libxml2Opened>(thread, timeMs * 10, interrupted);
    if (typeof answer !== 'string' && answer !== late && 'opened' in answer) return thread;
    await thread.terminate();
    const reason = answer === late ? `it takes longer than ${timeMs / 100} s` : answer;
    const faults = typeof reason === 'string' ? [{ file: '', line: 0, message: reason }] : setFaults(reason);
    throw uncheckable(program, set, faults);
  }

  let thread: Worker | null = await begin();

  async function checkOne(bytes: Uint8Array, withinMs = allowedMs(timeMs, bytes.length)): Promise<Validity> {
    thread ??= await begin();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.postMessage(bytes);
    const answer = await answerOf<Validity>(thread, withinMs, interrupted);
    if (typeof answer !== 'string' && answer !== late) return answer;
    await thread.terminate();
    thread = null;
    return answer === late ? notInTime(withinMs) : notJudged(answer);
  }

  return {
    program,
    maxTextBytes: Infinity,
    async checkAll(documents, withinMs) {
      const answers: Validity[] = [];
      for (const bytes of documents) answers.push(await checkOne(bytes, withinMs));
      return answers;
    },
    async check(chunks) {
      const parts: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of chunks) {
        bytes += chunk.length;
        if (bytes > maxDocumentBytes)
          return notJudged(`it has more than ${maxDocumentBytes / 1024 / 1024} MB`);
        parts.push(chunk);
      }
      return checkOne(new Uint8Array(Buffer.concat(parts)));
    },
    async close() {
      await thread?.terminate();
    },
  };
}

/** The result of an answer that has not arrived in time. */
const late = Symbol('late');

function setFaults(opened: Libxml2Opened): readonly SetFault[] {
  return 'faults' in opened ? opened.faults : [];
}

/** Returns the next message of the thread. Rejects if none arrives, and with the reason of an interruption. */
async function answerOf<Answer>(
  asked: Worker,
  withinMs: number,
  interrupted: AbortSignal,
): Promise<Answer | string | typeof late> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), withinMs);
  try {
    // an error of the thread is thrown
    const [answer] = (await once(asked, 'message', {
      signal: AbortSignal.any([limit.signal, interrupted]),
    })) as [Answer];
    return answer;
  } catch (error) {
    if (interrupted.aborted) {
      await asked.terminate();
      throw interrupted.reason;
    }
    if (limit.signal.aborted) return late;
    return `it ended with "${(error as Error).message}"`;
  } finally {
    clearTimeout(timer);
  }
}
