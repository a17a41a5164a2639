/** The folder in which this program is installed, and what was built there. */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** The folder of package.json: sources lie in `src/` below it, the build in `dist/`. */
export const installation = new URL('../', import.meta.url);

/** Starts processes and threads of this program. Its first argument names a program: `tools/load` is `load` of src/programs/tools.ts. */
export const launcher = fileURLToPath(new URL('bin/launch.mjs', installation));

/** Starts a thread, named as for `launcher`. */
export const startThread = (name: string, options: WorkerOptions): Worker =>
  new Worker(launcher, { ...options, argv: [name] });

declare const ENGINE_IDENTITY: string | undefined;

/**
 * Identifies the engine that draws models: a constant of the build (scripts/build.mjs). Sources are identified by their latest change,
 * so that a changed engine does not find the models of the one before.
 */
export function engineIdentity(): string {
  if (typeof ENGINE_IDENTITY === 'string') return ENGINE_IDENTITY;
  const engine = new URL('src/engine/', installation);
  const times = readdirSync(engine, { recursive: true }).map(
    (name) => statSync(new URL(String(name), engine)).mtimeMs,
  );
  return `sources of ${Math.max(...times)}`;
}
