/** Measures the time that a run spends on each step. */

/** A step in the summary; the work of the tool's own process, including its threads. */
export interface StepTime {
  readonly name: string;
  readonly seconds: number;
  /** user and system time */
  readonly cpu_seconds: number;
}

/** The age of this process, and the CPU time that it has used. */
export interface ProcessTime {
  readonly ms: number;
  readonly cpuMs: number;
}

/** Each step ends where the next begins; a step with the name of an earlier one adds to it. */
export class StepTimes {
  readonly #spent = new Map<string, { ms: number; cpuMs: number }>();
  #name = startStep;
  /** start of the current step */
  #since: ProcessTime;

  constructor(begun: ProcessTime = processStart) {
    this.#since = begun;
  }

  begin(name: string): void {
    this.#count();
    this.#name = name;
  }

  /** Returns the steps in their order, with the current one so far. */
  get all(): readonly StepTime[] {
    this.#count();
    return [...this.#spent].map(([name, { ms, cpuMs }]) => ({
      name,
      seconds: Math.round(ms) / 1000,
      cpu_seconds: Math.round(cpuMs) / 1000,
    }));
  }

  /** Seconds of all steps except the start. */
  get seconds(): number {
    this.#count();
    let ms = 0;
    for (const [name, spent] of this.#spent) if (name !== startStep) ms += spent.ms;
    return ms / 1000;
  }

  #count(): void {
    const now = processTime();
    const spent = this.#spent.get(this.#name) ?? { ms: 0, cpuMs: 0 };
    spent.ms += now.ms - this.#since.ms;
    spent.cpuMs += now.cpuMs - this.#since.cpuMs;
    this.#spent.set(this.#name, spent);
    this.#since = now;
  }
}

const startStep = 'start';
const processStart: ProcessTime = { ms: 0, cpuMs: 0 };

export function processTime(): ProcessTime {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000 };
}
