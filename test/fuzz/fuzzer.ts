/** What runs a target until its time is over, or something is found. */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRandom, type Random } from './random.ts';

export interface FuzzTarget {
  readonly name: string;
  /** Makes one input from this source and tries it; throws what is found, with the input. */
  step(random: Random): Promise<void> | void;
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

export interface FuzzRun {
  readonly steps: number;
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly seconds: number;
  readonly seed: number;
  /** where inputs of findings are kept */
  readonly keep: string | null;
  readonly onProgress?: (steps: number) => void;
  /** goes on after a finding (false) */
  readonly goOn?: boolean;
}

/** Each step has a source of its own, so that step N of a seed is the same whatever came before. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzRun> {
  const findings = new Map<string, Finding>();
  const end = performance.now() + options.seconds * 1000;
  let steps = 0;
  for (; performance.now() < end; steps += 1) {
    if (steps % 1000 === 999) options.onProgress?.(steps);
    try {
      const done = target.step(createRandom(Math.imul(options.seed, 0x9e3779b1) + steps));
      if (done !== undefined) await done;
    } catch (error) {
      if (!(error instanceof Finding)) throw error;
      // one of a kind is enough
      const kind = error.message.replaceAll(/\d+/g, 'N').slice(0, 120);
      if (!findings.has(kind)) {
        findings.set(kind, error);
        if (options.keep !== null) await keep(options.keep, target.name, error);
      }
      if (options.goOn !== true) break;
    }
  }
  return { steps, findings: [...findings.values()] };
}

async function keep(folder: string, target: string, { message, input, stack }: Finding): Promise<void> {
  await mkdir(folder, { recursive: true });
  const name = `${target}-${createHash('sha256').update(input).digest('hex').slice(0, 12)}`;
  await writeFile(join(folder, name), input);
  await writeFile(join(folder, `${name}.txt`), `${message}\n\n${stack}\n`);
}
