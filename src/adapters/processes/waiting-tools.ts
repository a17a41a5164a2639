/** Processes that have completed a run and wait for another of the same kind. */
import type { RunningTool } from './tool-process.ts';

export interface WaitingTools {
  /** Takes the process that came last, whose caches are fresh; null: none of that kind waits. */
  take(kind: string): RunningTool | null;
  /** False: it is to leave. */
  offer(kind: string, tool: RunningTool): boolean;
  forget(tool: RunningTool): void;
  /**
   * Makes room before another process starts beside `running` ones: waiting ones, the oldest first, leave until the total is within the
   * limit.
   */
  makeRoom(running: number): void;
  /** None waits from now on. Resolves when those that did are gone. */
  close(): Promise<void>;
}

/** `most` at a time, each no longer than `waitMs`. */
export function createWaitingTools(most: number, waitMs: number): WaitingTools {
  const waiting: { readonly kind: string; readonly tool: RunningTool; readonly timer: NodeJS.Timeout }[] = [];
  let isClosed = false;

  function remove(at: number): RunningTool | null {
    const [found] = at === -1 ? [] : waiting.splice(at, 1);
    if (found === undefined) return null;
    clearTimeout(found.timer);
    return found.tool;
  }
  const indexOf = (tool: RunningTool): number => waiting.findIndex((other) => other.tool === tool);

  return {
    take: (kind) => remove(waiting.findLastIndex((other) => other.kind === kind)),
    offer(kind, tool) {
      if (isClosed || most === 0) return false;
      const timer = setTimeout(() => void remove(indexOf(tool))?.leave(), waitMs);
      timer.unref();
      waiting.push({ kind, tool, timer });
      if (waiting.length > most) void remove(0)?.leave();
      return true;
    },
    forget: (tool) => void remove(indexOf(tool)),
    makeRoom(running) {
      while (waiting.length > 0 && waiting.length + running >= most) void remove(0)!.leave();
    },
    async close() {
      isClosed = true;
      const left: Promise<void>[] = [];
      while (waiting.length > 0) left.push(remove(0)!.leave());
      await Promise.all(left);
    },
  };
}
