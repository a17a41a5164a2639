/** Finds the files and folders of this machine that match a pattern. */
import { opendir, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { AppError } from '../../errors.ts';
import {
  patternStart,
  patternStep,
  type MetKind,
  type PathPattern,
  type PatternState,
} from '../../files/path-pattern.ts';
import { fixedLimits } from '../../config/limits.ts';
import { inputFault } from './open-file.ts';

type Kind = 'file' | 'folder' | null;

/**
 * Yields files and folders that match, relative to `directory`, in the order of their names. Links are followed if a segment names
 * them, but not by `**`; `kindOfLink` returns the kind of a link's target, and throws if the link must not be followed. AppError
 * `unprocessable_input` if there are too many entries to inspect.
 */
export async function* matchingFiles(
  pattern: PathPattern,
  directory: string,
  kindOfLink: (relativePath: string) => Promise<Kind> = (path) => kindOf(join(directory, path)),
): AsyncIterable<string> {
  const budget = createLookBudget();
  const waiting: { readonly folder: string; readonly state: PatternState }[] = [
    { folder: '', state: patternStart(pattern) },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { folder, state } = next;
    const below: typeof waiting = [];
    for (const { name, kind: entryKind } of await entriesOf(join(directory, folder), budget)) {
      const path = posix.join(folder, name);
      const isLink = entryKind === 'link';
      const met = (kind: MetKind) => patternStep(pattern, state, name, kind);
      if (entryKind === null || (isLink && !met('file').matches && met('link').below.size === 0)) continue;
      const kind = isLink ? await kindOfLink(path) : entryKind;
      if (kind === null) continue;
      const step = met(isLink && kind === 'folder' ? 'link' : kind);
      if (step.matches) yield path;
      else if (step.below.size > 0) below.push({ folder: path, state: step.below });
    }
    waiting.push(...below.toReversed());
  }
}

/** Counts the entries that a pattern made us inspect. */
export function createLookBudget(): () => void {
  let looked = 0;
  return () => {
    looked += 1;
    if (looked <= fixedLimits.patternEntries) return;
    throw new AppError(
      'unprocessable_input',
      `the pattern leads past more than ${fixedLimits.patternEntries} files: begin it with a folder nearer to them`,
    );
  };
}

interface Entry {
  readonly name: string;
  readonly kind: Kind | 'link';
}

async function entriesOf(path: string, budget: () => void): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(path, { bufferSize: 1024 })) {
      budget();
      entries.push({
        name: entry.name,
        kind: entry.isSymbolicLink()
          ? 'link'
          : entry.isDirectory()
            ? 'folder'
            : entry.isFile()
              ? 'file'
              : null,
      });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw inputFault(error, path);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns null if there is neither a file nor a folder. */
export async function kindOf(path: string): Promise<Kind> {
  const facts = await stat(path).catch(() => null);
  if (facts?.isFile()) return 'file';
  return facts?.isDirectory() ? 'folder' : null;
}
