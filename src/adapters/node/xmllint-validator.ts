/** Documents checked by `xmllint --stream`, a process: the XSD set and small documents lie in a folder of its own. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { StandaloneXsdSet } from '../../engine/xsd/standalone-set.ts';
import { AppError } from '../../errors.ts';
import type { DocumentValidator, Validity } from '../../ports/document-validator.ts';
import { addFault, uncheckable, validityFault, type FaultList } from './validity-messages.ts';

/** No settings of ours, and no catalogue that leads documents elsewhere. */
function environment(): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', XML_CATALOG_FILES: '' };
}

/** Its version, as `xmllint (libxml2 2.9.14)`; null where it is not installed. */
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
export async function createXmllintValidator(
  program: string,
  set: StandaloneXsdSet,
  interrupted: AbortSignal = neverAborted,
): Promise<DocumentValidator> {
  const folder = await mkdtemp(join(tmpdir(), 'xml-validate-'));
  try {
    for (const { name, bytes } of set.files) await writeFile(join(folder, name), bytes, { mode: 0o600 });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const run = (names: readonly string[], input: Readable | null): Promise<readonly Validity[]> =>
    runXmllint({ program, set, folder, interrupted }, names, input);
  return {
    program,
    maxTextBytes,
    async checkAll(documents) {
      if (documents.length === 0) return [];
      // A document may quote what xmllint prints: names that cannot be known keep its words apart from the program's
      const key = randomBytes(12).toString('hex');
      const names = documents.map((_, at) => `${key}-${at}.xml`);
      try {
        for (const [at, bytes] of documents.entries())
          await writeFile(join(folder, names[at]!), bytes, { mode: 0o600 });
        return await run(names, null);
      } finally {
        for (const name of names) await rm(join(folder, name), { force: true });
      }
    },
    async check(chunks) {
      const [validity] = await run(['-'], Readable.from(chunks, { objectMode: false }));
      return validity!;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

interface Place {
  readonly program: string;
  readonly set: StandaloneXsdSet;
  readonly folder: string;
  readonly interrupted: AbortSignal;
}

async function runXmllint(
  { program, set, folder, interrupted }: Place,
  names: readonly string[],
  input: Readable | null,
): Promise<readonly Validity[]> {
  const child = spawn(
    'xmllint',
    ['--stream', '--noout', '--nonet', '--huge', '--schema', set.main, ...names],
    {
      cwd: folder,
      env: environment(),
      stdio: [input === null ? 'ignore' : 'pipe', 'ignore', 'pipe'],
      shell: false,
      signal: interrupted,
      killSignal: 'SIGKILL',
    },
  );
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const answers = new AnswerReader(names);
  const reading = (async () => {
    for await (const line of createInterface({ input: child.stderr!, crlfDelay: 0 }))
      answers.take(line.slice(0, maxLine));
  })();
  let inputError: unknown = null;
  const feeding =
    input === null
      ? Promise.resolve()
      : pipeline(input, child.stdin!).catch((error: unknown) => {
          // it stops reading when it has seen enough; what the document's own reader throws is ours
          if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
          inputError = error;
          child.kill('SIGKILL');
        });
  const [code] = await Promise.all([ended, reading, feeding]);
  if (inputError !== null) throw inputError as Error;
  if (code === 5) throw uncheckable(program, set, answers.setFaults);
  const silent = answers.silent();
  if (silent !== null || (code !== 0 && code !== 1 && code !== 3))
    throw new AppError(
      'unprocessable_input',
      `--validate: ${program} ended with ${code ?? 'a signal'} before it had checked every document` +
        (answers.lastWords === '' ? '' : `: ${answers.lastWords}`),
    );
  return answers.validities;
}

/** Reads what xmllint prints: `NAME:LINE: [element a: ]Schemas validity error : TEXT`, then `NAME validates`. */
class AnswerReader {
  readonly validities: FaultList[];
  readonly setFaults: { file: string; line: number; message: string }[] = [];
  lastWords = '';
  readonly #at: ReadonlyMap<string, number>;
  readonly #done = new Set<number>();
  #open: { readonly document: number; readonly line: number; text: string } | null = null;

  constructor(names: readonly string[]) {
    this.validities = names.map(() => ({ faults: [], count: 0 }));
    this.#at = new Map(names.map((name, at) => [name, at]));
  }

  take(line: string): void {
    const fault = /^([^\s:]+):(\d+): (?:element [^:]*: )?Schemas validity error : (.*)$/.exec(line);
    const document = fault === null ? undefined : this.#at.get(fault[1]!);
    if (fault !== null && document !== undefined) {
      this.#endFault();
      this.#open = { document, line: Number(fault[2]), text: fault[3]! };
      return;
    }
    const verdict = /^(\S+) (validates|fails to validate)$/.exec(line);
    const judged = verdict === null ? undefined : this.#at.get(verdict[1]!);
    if (verdict !== null && judged !== undefined) {
      this.#endFault();
      this.#done.add(judged);
      const validity = this.validities[judged]!;
      if (verdict[2] === 'fails to validate' && validity.count === 0)
        addFault(validity, validityFault(1, 'not valid against the XSD set'));
      return;
    }
    const ofSet = /^([^\s:]+\.xsd):(\d+): .*?(?:parser|validity) error : (.*)$/.exec(line);
    if (ofSet !== null) this.setFaults.push({ file: ofSet[1]!, line: Number(ofSet[2]), message: ofSet[3]! });
    else if (this.#open !== null && this.#open.text.length < maxLine) this.#open.text += ` ${line}`;
    else this.lastWords = line;
  }

  /** The first document that nothing was said of; null: there is none. */
  silent(): number | null {
    this.#endFault();
    const at = this.validities.findIndex((_, index) => !this.#done.has(index));
    return at < 0 ? null : at;
  }

  #endFault(): void {
    if (this.#open === null) return;
    const { document, line, text } = this.#open;
    this.#open = null;
    addFault(this.validities[document]!, validityFault(line, text));
  }
}
