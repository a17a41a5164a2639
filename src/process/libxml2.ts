/**
 * Checks documents with libxml2 in WebAssembly, in a thread that is ended when a document takes too long, and restarted after a
 * document has broken it: only that document is lost. Each document is held as a tree.
 */
import { once } from 'node:events';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import type { StandaloneXsdSet } from '../engine/xsd/read/standalone-set.ts';
import type { DocumentValidator, Validity, ValidityFault } from '../ports/processes.ts';
import {
  allowedMs,
  notInTime,
  notJudged,
  uncheckable,
  type SetFault,
  addMessage,
  emptyValidity,
  judged,
} from './validator-messages.ts';
import type {
  ParseOption as ParseOptions,
  XmlDocument as Document,
  XsdValidator as Validator,
} from 'libxml2-wasm';

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

// The checks in that thread, one document after the other. The package libxml2-wasm hides the message before an internal error, and takes
// quadratic time for faults of many siblings, so messages are collected here.

/** The members that the package omits from its types. */
interface Inner {
  addFunction(handler: (data: number, error: number) => void, signature: string): number;
}
interface Held {
  readonly _ptr: number;
}

const warning = 1;

type OpenedSet = { readonly faults: readonly SetFault[] } | { check(bytes: Uint8Array): Validity };

/** `faults`: libxml2 cannot compile the set. */
export async function openSet(set: StandaloneXsdSet): Promise<OpenedSet> {
  // the package awaits its WebAssembly while it loads, so a CommonJS build cannot `require` it
  const { ParseOption, XmlBufferInputProvider, XmlDocument, XmlLibError, XsdValidator, ...providers } =
    await import('libxml2-wasm');
  const libxml2 = await import('libxml2-wasm/lib/libxml2.mjs');
  // entities are put in their place: a tree with references cannot be validated. Our own reader has bounded them
  const option =
    ParseOption.XML_PARSE_NONET |
    ParseOption.XML_PARSE_BIG_LINES |
    ParseOption.XML_PARSE_HUGE |
    ParseOption.XML_PARSE_NOENT;
  const contents = Object.fromEntries(set.files.map(({ name, bytes }) => [`/set/${name}`, bytes]));
  // nothing but the set can be opened, and that not by documents
  providers.xmlRegisterInputProvider(new XmlBufferInputProvider(contents));
  let validator: Validator;
  try {
    const main = `/set/${set.main}`;
    validator = XsdValidator.fromDoc(XmlDocument.fromBuffer(contents[main]!, { url: main, option }));
  } catch (error) {
    if (!(error instanceof XmlLibError)) throw error;
    return {
      faults: error.details
        .filter(({ level }) => level > warning)
        .map(({ file = '', line, message }) => ({
          file: file.replace(/^\/set\//, ''),
          line,
          message,
        })),
    };
  } finally {
    providers.xmlCleanupInputProvider();
  }
  let list = emptyValidity();
  const collect = (libxml2 as unknown as Inner).addFunction((_, error) => {
    if (libxml2.XmlErrorStruct.level(error) === warning) return;
    const message = libxml2.XmlErrorStruct.message(error);
    addMessage(list, message, () => locationOf(error));
  }, 'vii');

  return {
    check(bytes) {
      list = emptyValidity();
      // defaults of attributes that the document itself declares are attributes of it
      const document = parse(bytes, option | ParseOption.XML_PARSE_DTDATTR);
      if (!(document instanceof XmlDocument)) return document;
      const context = libxml2.xmlSchemaNewValidCtxt((validator as unknown as Held)._ptr);
      libxml2.xmlSchemaSetValidStructuredErrors(context, collect, 0);
      const result = libxml2.xmlSchemaValidateDoc(context, (document as unknown as Held)._ptr);
      libxml2.xmlSchemaFreeValidCtxt(context);
      document.dispose();
      if (result !== 0 && list.count === 0 && list.unjudged === null)
        return notJudged('it ended without a reason');
      return judged(list);
    },
  };

  /** Our own reader has found the document well-formed: a fault that this parser reports is one of its own limits. */
  function parse(bytes: Uint8Array, option: ParseOptions): Document | Validity {
    try {
      return XmlDocument.fromBuffer(bytes, { option });
    } catch (error) {
      if (!(error instanceof XmlLibError)) throw error;
      const { message = error.message, line = 1 } = error.details[0] ?? {};
      return notJudged(limitOf(message.trim()), { line, path: null });
    }
  }

  /** The element that an error speaks of. */
  function locationOf(error: number): Pick<ValidityFault, 'line' | 'path'> {
    const { XmlTreeCommonStruct: tree, XmlNodeType: kinds } = libxml2;
    const path: number[] = [];
    for (let node = libxml2.XmlErrorStruct.node(error); node !== 0; node = tree.parent(node)) {
      if (tree.type(node) !== kinds.XML_ELEMENT_NODE) continue;
      let index = 1;
      for (let before = tree.prev(node); before !== 0; before = tree.prev(before))
        if (tree.type(before) === kinds.XML_ELEMENT_NODE) index += 1;
      path.unshift(index);
    }
    return { line: libxml2.XmlErrorStruct.line(error), path: path.length === 0 ? null : path };
  }
}

/** Its advice is to those who call it as a library. */
function limitOf(message: string): string {
  return message
    .replace(/, (?:see|use) \w+(?: option)?\.?$/, '')
    .replace(/^./, (first) => first.toLowerCase());
}
