/** Compiles an XSD set in a thread of its own, so that a set made to take for ever, or all memory, ends at its limits. */
import { startThread } from '../../installation.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { CompiledXsdSet } from '../../engine/xsd/compile-set.ts';
import { XsdSetError } from '../../engine/xsd/report.ts';
import { AppError } from '../../errors.ts';
import type { CompileAnswer, CompileOrder } from './xsd-set-thread.ts';

export interface CompileLimits {
  readonly timeMs: number;
  readonly memoryBytes: number;
}

/** XsdSetError and InputError as `compileXsdSet`; AppError `unprocessable_input` past a limit. */
export async function compileInThread(order: CompileOrder, limits: CompileLimits): Promise<CompiledXsdSet> {
  const megabytes = Math.max(16, Math.floor(limits.memoryBytes / 1024 / 1024));
  const thread = startThread('tools/xsd-set', {
    workerData: order,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: megabytes },
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const answer = await new Promise<CompileAnswer>((resolve, reject) => {
      thread.once('message', resolve);
      // a thread that ends of one error may report another: memory runs out while it ends
      thread.on('error', (error: NodeJS.ErrnoException) => {
        const full = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
        reject(full ? pastLimit(`compiling the XSD set needs more than ${megabytes} MiB of memory`) : error);
      });
      thread.once('exit', () => reject(new Error('the compiler ended without an answer')));
      timer = setTimeout(
        () => reject(pastLimit(`compiling the XSD set took longer than ${limits.timeMs / 1000} s`)),
        limits.timeMs,
      );
    });
    if ('compiled' in answer) return answer.compiled;
    throw answer.all === null ? new InputError(answer.first) : new XsdSetError(answer.first, answer.all);
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}

function pastLimit(text: string): AppError {
  return new AppError('unprocessable_input', text);
}
