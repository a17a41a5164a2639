/** Checks documents with `xmllint --stream`, a process for each, which reads them as a stream: the XSD set is in a folder of its own. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { StandaloneXsdSet } from '../engine/xsd/read/standalone-set.ts';
import type { DocumentValidator, Validity } from '../ports/processes.ts';
import {
  addMessage,
  allowedMs,
  emptyValidity,
  judged,
  notInTime,
  notJudged,
  uncheckable,
  type SetFault,
  type ValidityList,
} from './validator-messages.ts';

/** No settings of ours, and no catalogue that leads documents elsewhere. */
function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', XML_CATALOG_FILES: '' };
}

/** Returns its version, as `xmllint (libxml2 2.9.14)`, or null if it is not installed. */
export async function findXmllint(): Promise<string | null> {
  const answer = await promisify(execFile)('xmllint', ['--version'], { env: environment() }).catch(
    () => null,
  );
  if (answer === null) return null;
  // 20914
  const [, version] = /version (\d+)/.exec(answer.stderr + answer.stdout) ?? [];
  const number = Number(version);
  const dotted = `${Math.floor(number / 10_000)}.${Math.floor(number / 100) % 100}.${number % 100}`;
  return version === undefined ? 'xmllint' : `xmllint (libxml2 ${dotted})`;
}

/** Its time grows with the square of a value: about a minute of processor time for this one, an hour for one eight times as long. */
const maxTextBytes = 32 * 1024 * 1024;

/** characters of a line of its output that are read */
const maxLine = 2000;

const neverAborted: AbortSignal = new AbortController().signal;

/** `interrupted`: the program ends with it. */
export interface XmllintOptions {
  /** time for a small document (`allowedMs`); only time in which the program does not accept more input counts */
  readonly timeMs: number;
  /** ends the program and the check */
  readonly interrupted?: AbortSignal;
}

export async function createXmllintValidator(
  program: string,
  set: StandaloneXsdSet,
  { timeMs, interrupted = neverAborted }: XmllintOptions,
): Promise<DocumentValidator> {
  const folder = await mkdtemp(join(tmpdir(), 'xml-validate-'));
  try {
    for (const { name, bytes } of set.files) await writeFile(join(folder, name), bytes, { mode: 0o600 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const run = { program, set, folder, timeMs, interrupted };
  return {
    program,
    maxTextBytes,
    async checkAll(documents, withinMs) {
      const answers: Validity[] = [];
      for (const bytes of documents) {
        // A document may quote xmllint's output: an unpredictable name distinguishes its words from the program's
        const name = `${randomBytes(12).toString('hex')}.xml`;
        await writeFile(join(folder, name), bytes, { mode: 0o600 });
        try {
          const allowed = withinMs ?? allowedMs(timeMs, bytes.length);
          answers.push(await runXmllint({ ...run, timeMs: allowed }, name, null));
        } finally {
          await rm(join(folder, name), { force: true });
        }
      }
      return answers;
    },
    check: (chunks) => runXmllint(run, '-', chunks),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

interface XmllintRun extends Required<XmllintOptions> {
  readonly program: string;
  readonly set: StandaloneXsdSet;
  readonly folder: string;
}

async function runXmllint(
  { program, set, folder, timeMs, interrupted }: XmllintRun,
  name: string,
  /** null: the document is in the folder */
  chunks: AsyncIterable<Uint8Array> | null,
): Promise<Validity> {
  const argv = ['--stream', '--noout', '--nonet', '--huge', '--schema', set.main, name];
  const child = spawn('xmllint', argv, {
    cwd: folder,
    env: environment(),
    stdio: [chunks === null ? 'ignore' : 'pipe', 'ignore', 'pipe'],
    shell: false,
    signal: interrupted,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const answer = new AnswerReader(name);
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stderr!, crlfDelay: 0 }))
      answer.take(line.slice(0, maxLine));
  })();
  let late = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let spentMs = 0;
  let bytes = 0;
  const end = (): void => {
    late = true;
    child.kill('SIGKILL');
  };
  const begin = (): number => {
    clearTimeout(timer);
    timer = setTimeout(end, Math.max(0, allowedMs(timeMs, bytes) - spentMs));
    return performance.now();
  };
  begin();
  const feed = async (from: AsyncIterable<Uint8Array>): Promise<void> => {
    const taken = async function* (): AsyncIterable<Uint8Array> {
      for await (const chunk of from) {
        bytes += chunk.length;
        const begunMs = begin();
        yield chunk;
        clearTimeout(timer);
        spentMs += performance.now() - begunMs;
      }
      begin();
    };
    await pipeline(Readable.from(taken(), { objectMode: false }), child.stdin!);
  };
  let inputError: unknown = null;
  const feeding =
    chunks === null
      ? Promise.resolve()
      : feed(chunks).catch((error: unknown) => {
          // it stops reading when it has seen enough; an exception of the document's own reader is ours
          if (['EPIPE', 'ECONNRESET'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
          inputError = error;
          child.kill('SIGKILL');
        });
  const [code] = await Promise.all([ended, reading, feeding]).finally(() => clearTimeout(timer));
  if (inputError !== null) throw inputError as Error;
  if (code === 5) throw uncheckable(program, set, answer.setFaults);
  const { validity, isWhole } = answer.end();
  if (isWhole || validity.count > 0 || validity.unjudged !== null) return judged(validity);
  if (late) return notInTime(allowedMs(timeMs, bytes));
  return notJudged(
    `it ended with ${code ?? 'a signal'}${answer.lastWords === '' ? '' : `: ${answer.lastWords}`}`,
  );
}

/** Parses the output of xmllint: `NAME:LINE: [element a: ]Schemas validity error : TEXT`, then `NAME validates`. */
class AnswerReader {
  readonly setFaults: SetFault[] = [];
  lastWords = '';
  readonly #name: string;
  readonly #validity = emptyValidity();
  #isWhole = false;
  #open: { readonly line: number; text: string } | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  take(line: string): void {
    const said = line.startsWith(this.#name) ? line.slice(this.#name.length) : '';
    const fault = /^:(\d+): (?:element [^:]*: )?(Schemas validity|parser) error : (.*)$/.exec(said);
    const verdict = /^ (?:validates|fails to validate|validation generated an internal error)$/.test(said);
    const ofSet = /^([^\s:]+\.xsd):(\d+): .*?(?:parser|validity) error : (.*)$/.exec(line);
    // a note to its makers, in the middle of everything
    if (line.startsWith('Unimplemented block at ')) return;
    if (fault !== null || verdict) this.#endMessage();
    if (verdict) this.#isWhole = true;
    else if (fault?.[2] === 'parser') this.#limit(Number(fault[1]), fault[3]!);
    else if (fault !== null) this.#open = { line: Number(fault[1]), text: fault[3]! };
    else if (ofSet !== null)
      this.setFaults.push({ file: ofSet[1]!, line: Number(ofSet[2]), message: ofSet[3]! });
    else if (this.#open !== null && this.#open.text.length < maxLine) this.#open.text += `\n${line}`;
    else this.lastWords = line;
  }

  /** Our own reader has found the document well-formed: a fault that this parser reports is one of its own limits. */
  #limit(line: number, reason: string): void {
    this.#validity.unjudged ??= { reason, location: { line, path: null } };
  }

  end(): { readonly validity: ValidityList; readonly isWhole: boolean } {
    this.#endMessage();
    return { validity: this.#validity, isWhole: this.#isWhole };
  }

  #endMessage(): void {
    if (this.#open === null) return;
    const { line, text } = this.#open;
    this.#open = null;
    addMessage(this.#validity, text, () => ({ line, path: null }));
  }
}
