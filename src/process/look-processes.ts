/**
 * Child processes that look at the places of watches: requests and answers are lines of JSON. Each process serves one look at a time, and
 * waits for further ones of the same organisation for a while. A process that holds too much memory, or whose look is over before it has
 * answered, is killed with all that it started.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { limitMemory, residentBytes, endGroup, signalGroup, createProcessGuard } from './group.ts';
import { markVariable } from './successive-runs.ts';
import { baseEnvironment, findTie } from './tool-runner.ts';

export interface LookProcessesOptions {
  /** absolute path of the module that a process runs */
  readonly entry: readonly string[];
  readonly workingDirectory: string;
  /** memory of a process; half of it may be objects of JavaScript */
  readonly memoryBytes: number;
  /** processes at the same time, those that wait included */
  readonly most: number;
  /** time for which a process waits for a further look; null: not at all */
  readonly waitMs: number | null;
  /** longest line that a process may print (4 MiB: names of files and digests) */
  readonly longestLineBytes?: number;
}

/** A process that serves one look now. */
export interface LookProcess {
  /** The answer to a request. Rejects with a `LookProcessEnd` if the process ends before. */
  ask(request: unknown): Promise<unknown>;
  /** Yields the parts of an answer as they arrive. */
  parts(request: unknown): AsyncIterable<unknown>;
  /** The look is over: the process may serve another one. It is killed if requests are still open. */
  release(): void;
}

/** The process of a look ended before it had answered. */
export class LookProcessEnd extends Error {
  /** the limit that it exceeded, or the signal that ended it, which may recur in the next look; null: neither */
  readonly limit: string | null;

  constructor(limit: string | null, message = limit ?? 'the check has ended') {
    super(message);
    this.name = 'LookProcessEnd';
    this.limit = limit;
  }
}

export interface LookProcesses {
  /** A process for a look of the organisation. */
  take(idOrg: number): Promise<LookProcess>;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** The line that a process prints for a request. */
interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly part?: unknown;
  readonly error?: unknown;
}

interface Request {
  readonly settle: (answer: Answer) => Promise<void>;
  readonly end: (error: LookProcessEnd) => void;
}

/** Longer lines, unless the options allow them, and more bytes in one look are refused. */
const usualLongestLine = 4 * 1024 * 1024;
const maxBytesOfLook = 256 * 1024 * 1024;
/** Share of its memory that a waiting process may use. */
const maxLeft = 1 / 2;
const disappearMs = 5000;
const property = 'svc.limits.look_memory';

export function createLookProcesses(options: LookProcessesOptions): LookProcesses {
  const { longestLineBytes: longestLine = usualLongestLine } = options;
  const guard = createProcessGuard();
  const all = new Set<Kept>();
  let tie: Promise<readonly string[]> | null = null;
  let isClosed = false;

  /** A process and its state: it serves a look, or waits for the next. */
  class Kept {
    readonly idOrg: number;
    readonly gone: Promise<void>;
    readonly #child: ChildProcess;
    readonly #requests = new Map<number, Request>();
    #last = 0;
    #bytes = 0;
    #reason: string | null = null;
    #isOver = false;
    #isBusy = true;
    #timer: NodeJS.Timeout | null = null;

    constructor(child: ChildProcess, idOrg: number, mark: string) {
      this.#child = child;
      this.idOrg = idOrg;
      const groupId = child.pid!;
      guard.watch(groupId, mark);
      const memory = limitMemory(groupId, options.memoryBytes, () => this.kill(memory.over()), property);
      child.stdin!.on('error', () => undefined);
      child.on('error', () => undefined);
      this.gone = new Promise((resolve) => {
        child.once('exit', (code, signal) => {
          memory.stop();
          all.delete(this);
          if (this.#timer !== null) clearTimeout(this.#timer);
          const isExpected = this.#isOver;
          this.#isOver = true;
          if (!isExpected) this.#reason = causeOf(code, signal, options.memoryBytes);
          const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
          this.#end(isExpected ? undefined : `the process that checked it was ended ${how}`);
          // if the group cannot be ended now, the guard ends it with this process
          void endGroup(groupId, mark, disappearMs)
            .catch(() => false)
            .then(() => {
              guard.release(groupId);
              resolve();
            });
        });
      });
      void this.#read();
    }

    get waits(): boolean {
      return !this.#isBusy && !this.#isOver;
    }

    /** `reason`: the limit that it exceeded; null: nobody waits for its answers any more. */
    kill(reason: string | null): void {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#reason = reason;
      signalGroup(this.#child.pid!, 'SIGKILL');
    }

    take(): LookProcess {
      this.#isBusy = true;
      this.#bytes = 0;
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = null;
      return {
        ask: (request) => this.#ask(request),
        parts: (request) => this.#parts(request),
        release: () => void this.#release(),
      };
    }

    async #release(): Promise<void> {
      if (!this.#isBusy) return;
      if (this.#requests.size > 0 || options.waitMs === null || isClosed) return this.kill(null);
      // a process that does not hear this is deaf to the next look, too
      const deaf = setTimeout(() => this.kill(null), 1000);
      try {
        await this.#ask({ what: 'close' });
      } catch {
        // the process is gone
        return;
      } finally {
        clearTimeout(deaf);
      }
      if ((await residentBytes(this.#child.pid!)) > options.memoryBytes * maxLeft) return this.kill(null);
      this.#isBusy = false;
      this.#timer = setTimeout(() => this.kill(null), options.waitMs);
    }

    #send(request: unknown, made: Request): number {
      const id = (this.#last += 1);
      if (this.#isOver) {
        made.end(new LookProcessEnd(this.#reason));
        return id;
      }
      this.#requests.set(id, made);
      this.#child.stdin!.write(`${JSON.stringify({ id, request })}\n`);
      return id;
    }

    #ask(request: unknown): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const id = this.#send(request, {
          settle: async (answer) => {
            this.#requests.delete(id);
            if (answer.error === undefined) resolve(answer.value);
            else reject(answer.error as Error);
          },
          end: reject,
        });
      });
    }

    async *#parts(request: unknown): AsyncIterable<unknown> {
      let next = Promise.withResolvers<Answer>();
      let taken = Promise.withResolvers<void>();
      const id = this.#send(request, {
        // the next output of the process is read after this part has been consumed
        settle: (answer) => {
          if (answer.part === undefined) this.#requests.delete(id);
          next.resolve(answer);
          return taken.promise;
        },
        end: (error) => next.reject(error),
      });
      // an end that occurs while nobody waits is reported when the next part is requested
      next.promise.catch(unread);
      try {
        for (;;) {
          const answer = await next.promise;
          if (answer.error !== undefined) throw answer.error as Error;
          if (answer.part === undefined) return;
          next = Promise.withResolvers<Answer>();
          next.promise.catch(unread);
          const before = taken;
          taken = Promise.withResolvers<void>();
          before.resolve();
          if (this.#isOver) throw new LookProcessEnd(this.#reason);
          yield answer.part;
        }
      } finally {
        taken.resolve();
        // the rest of the answer is of no use
        if (this.#requests.has(id)) this.kill(null);
      }
    }

    async #read(): Promise<void> {
      let line: Buffer[] = [];
      let lineBytes = 0;
      try {
        for await (const chunk of this.#child.stdout! as AsyncIterable<Buffer>) {
          this.#bytes += chunk.length;
          let from = 0;
          for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
            line.push(chunk.subarray(from, at));
            await this.#take(Buffer.concat(line).toString());
            line = [];
            lineBytes = 0;
            from = at + 1;
          }
          line.push(chunk.subarray(from));
          lineBytes += chunk.length - from;
          if (lineBytes > longestLine || this.#bytes > maxBytesOfLook)
            return this.kill(`its list has more than ${maxBytesOfLook / 1024 ** 2} MiB of names`);
        }
      } catch {
        // the pipe broke, or the process printed something other than answers
        this.kill(null);
      }
    }

    async #take(line: string): Promise<void> {
      const answer = JSON.parse(line) as Answer;
      await this.#requests.get(answer.id)?.settle(answer);
    }

    #end(message: string | undefined): void {
      for (const { end } of this.#requests.values())
        end(this.#reason === null ? new LookProcessEnd(null, message) : new LookProcessEnd(this.#reason));
      this.#requests.clear();
    }
  }

  async function start(idOrg: number): Promise<Kept> {
    const heapMegabytes = Math.max(32, Math.floor(options.memoryBytes / 2 / 1024 ** 2));
    const mark = randomBytes(16).toString('hex');
    const words = [
      ...(await (tie ??= findTie())),
      process.execPath,
      `--max-old-space-size=${heapMegabytes}`,
      ...options.entry,
    ];
    const child = spawn(words[0]!, words.slice(1), {
      cwd: options.workingDirectory,
      env: { ...baseEnvironment(), [markVariable]: mark },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      shell: false,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const kept = new Kept(child, idOrg, mark);
    all.add(kept);
    return kept;
  }

  return {
    async take(idOrg) {
      const waiting = [...all].filter((one) => one.waits);
      const own = waiting.find((one) => one.idOrg === idOrg);
      if (own !== undefined) return own.take();
      // a process is never reused for another organisation, because it may hold data of the first one
      if (all.size >= options.most) waiting[0]?.kill(null);
      return (await start(idOrg)).take();
    },
    async close() {
      isClosed = true;
      const kept = [...all];
      for (const one of kept) one.kill(null);
      await Promise.all(kept.map(({ gone }) => gone));
    },
  };
}

/** An end that nobody waits for. */
function unread(): void {
  // the next request reports the fault
}

/**
 * Signals by which a process ends for lack of memory, or by a fault of its own; other signals come from the process that ends the
 * service.
 */
const faults: ReadonlySet<string> = new Set(['SIGKILL', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE']);

/** Returns why a process ended by itself before it had answered, or null if that need not happen again. */
function causeOf(code: number | null, signal: string | null, memoryBytes: number): string | null {
  const aborted = signal === 'SIGABRT' || signal === 'SIGTRAP' || code === 133 || code === 134;
  if (aborted)
    return `it needed more than half of the ${Math.round(memoryBytes / 1e6)} MB of ${property} for objects of JavaScript`;
  return signal !== null && faults.has(signal) ? `it was ended by ${signal}` : null;
}
