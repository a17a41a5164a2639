/** What runs a target until its time is over, or something is found. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemoryWatch } from './memory-watch.ts';
import { createRandom, type Random } from './random.ts';
import { shrunk } from './shrink.ts';

/** An input, and what it is held against: where it shows something, smaller ones are tried the same way. */
export interface Trial {
  readonly input: Uint8Array;
  /** Throws a finding. */
  check(input: Uint8Array): Promise<void> | void;
  /** how an input is cut for making it smaller: by bytes (bytes) */
  readonly cut?: 'bytes' | 'lines';
}

export interface FuzzTarget {
  readonly name: string;
  /** Makes one input from this source, and gives it to be tried, or tries it: throws what is found, with the input. */
  step(random: Random): Promise<Trial | void> | Trial | void;
  close(): Promise<void>;
}

/** Something that must not be. `input`: what shows it. */
export class Finding extends Error {
  readonly input: string | Uint8Array;

  constructor(what: string, input: string | Uint8Array, cause?: unknown) {
    super(what, cause === undefined ? undefined : { cause });
    this.name = 'Finding';
    this.input = input;
  }
}

/** Something found, and the step that shows it again with the same seed. */
export interface FoundAt {
  readonly step: number;
  readonly finding: Finding;
}

export interface FuzzRun {
  readonly steps: number;
  readonly findings: readonly FoundAt[];
}

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** only this step is made */
  readonly step?: number;
  /** where inputs of findings are kept */
  readonly keep: string | null;
  /** told before each step */
  readonly onStep?: (step: number) => void;
  /** goes on after a finding (false) */
  readonly goOn?: boolean;
}

const shrinkingMs = 5000;

/** Each step has a source of its own, so that step N of a seed is the same whatever came before. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzRun> {
  const findings = new Map<string, FoundAt>();
  const memory = createMemoryWatch();
  const end = performance.now() + options.seconds * 1000;
  const first = options.step ?? 0;
  let step = first;
  for (; options.step === undefined ? performance.now() < end : step === first; step += 1) {
    options.onStep?.(step);
    const finding = await tryStep(target, createRandom(Math.imul(options.seed, 0x9e3779b1) + step), memory);
    if (finding === null) continue;
    // one of a kind is enough
    const kind = kindOf(finding, 120);
    if (!findings.has(kind)) {
      findings.set(kind, { step, finding });
      if (options.keep !== null) await keep(options.keep, target.name, finding);
    }
    if (options.goOn !== true) break;
  }
  return { steps: step - first, findings: [...findings.values()] };
}

async function tryStep(
  target: FuzzTarget,
  random: Random,
  memory: ReturnType<typeof createMemoryWatch>,
): Promise<Finding | null> {
  let trial: Trial | void = undefined;
  try {
    const made = target.step(random);
    trial = made instanceof Promise ? await made : made;
    await trial?.check(trial.input);
    const tooMuch = memory.complaint();
    return tooMuch === null ? null : new Finding(tooMuch, trial?.input ?? '');
  } catch (error) {
    if (!(error instanceof Finding)) throw error;
    return trial === undefined ? error : await smallest(trial, error);
  }
}

/** The finding by the smallest input that still shows one of its kind. */
async function smallest(trial: Trial, found: Finding): Promise<Finding> {
  let best = found;
  const kind = kindOf(found, 40);
  await shrunk(trial.input, trial.cut ?? 'bytes', shrinkingMs, async (input) => {
    try {
      await trial.check(input);
    } catch (error) {
      if (!(error instanceof Finding)) throw error;
      if (kindOf(error, 40) !== kind) return false;
      best = error;
      return true;
    }
    return false;
  });
  return best;
}

function kindOf({ message }: Finding, characters: number): string {
  return message.replaceAll(/\d+(?:\.\d+)?/g, 'N').slice(0, characters);
}

async function keep(folder: string, target: string, { message, input, stack }: Finding): Promise<void> {
  await mkdir(folder, { recursive: true });
  const name = `${target}-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`;
  await writeFile(join(folder, name), input);
  await writeFile(join(folder, `${name}.txt`), `${message}\n\n${stack}\n`);
}
