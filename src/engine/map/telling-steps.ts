/**
 * Which steps of a path that is too long for a name are to stay in it: those that tell a reader which of the table's columns it is.
 * `supply_chain_trade_transaction_…` before everything says little, though it comes first.
 */
import { byteLength, firstWords } from './names.ts';

/** more columns of one last step than these are told apart by how common their steps are alone */
const mostCompared = 400;

/** The steps, in their order and the last among them, that have at most so many bytes joined by underscores, if that can be. */
export type StepChooser = (steps: readonly string[], maxBytes: number) => readonly string[];

/** `pathsOf`: the steps of all names of the table; asked for once, and only when a name is too long. */
export function createStepChooser(pathsOf: () => readonly (readonly string[])[]): StepChooser {
  let known: KnownPaths | null = null;
  return (path, maxBytes) => {
    known ??= readPaths(pathsOf());
    const { share, rivals } = known;
    const others = rivals(path);
    let kept = path.map((step, at) => ({ step, share: share(path, at) }));
    let last: (typeof kept)[number] | null = null;
    const bytes = (): number => kept.reduce((sum, { step }) => sum + byteLength(step) + 1, -1);
    while (kept.length > 1 && bytes() > maxBytes) {
      const without = kept.slice(0, -1).map((dropped) => {
        const rest = kept.filter((other) => other !== dropped);
        return { rest, dropped, confused: others.filter((rival) => isWithin(rest, rival)).length };
      });
      without.sort((a, b) => a.confused - b.confused || b.dropped.share - a.dropped.share);
      kept = without[0]!.rest;
      last = without[0]!.dropped;
    }
    if (kept.length > 1 || last === null) return kept.map(({ step }) => step);
    // what a value is says too little alone: as many words of the step that was left out at last as fit
    const words = firstWords(last.step, maxBytes - bytes() - 1);
    return words === '' ? [kept[0]!.step] : [words, kept[0]!.step];
  };
}

interface KnownPaths {
  /** How many of the names that reach the step's place go through it: 1 is all of them, and says nothing. */
  share(path: readonly string[], at: number): number;
  /** Names that end alike. */
  rivals(path: readonly string[]): readonly (readonly string[])[];
}

function readPaths(paths: readonly (readonly string[])[]): KnownPaths {
  const under = new Map<string, number>();
  for (const path of paths) {
    for (let end = 0; end < path.length; end += 1) {
      const start = path.slice(0, end).join('/');
      under.set(start, (under.get(start) ?? 0) + 1);
    }
  }
  const through = (path: readonly string[], end: number): number =>
    under.get(path.slice(0, end).join('/')) ?? 0;
  const byLast = Map.groupBy(paths, (path) => path.at(-1)!);
  return {
    share: (path, at) => through(path, at + 1) / through(path, at),
    rivals: (path) => {
      const alike = byLast.get(path.at(-1)!) ?? [];
      return alike.length > mostCompared ? [] : alike;
    },
  };
}

/** Whether a path has the steps, in that order. */
function isWithin(steps: readonly { readonly step: string }[], path: readonly string[]): boolean {
  let at = 0;
  for (const step of path) if (at < steps.length && steps[at]!.step === step) at += 1;
  return at === steps.length;
}
