/** Tracks the outputs of earlier executions in a request, so that later ones may name a path before it exists. */
import { AppError } from '../../../errors.ts';
import { parsePathPattern } from '../../files/path-pattern.ts';
import type { FileStore } from '../../../ports/files.ts';
import { parseTarget } from './target.ts';
import { storesNothing, type ToolRequest } from './tool-request.ts';

/** The use of a path: as a target of rows of that kind, a folder of documents, or a file of rows. */
export type ReadAs = 'duckdb' | 'sqlite' | 'folder' | 'documents' | 'rows';

export interface EarlierOutputs {
  /** Returns whether an earlier execution makes the file or folder at this path. */
  makes(path: string, as: ReadAs): Promise<boolean>;
}

export const nothingEarlier: EarlierOutputs = { makes: () => Promise.resolve(false) };

export async function earlierOutputs(
  files: Pick<FileStore, 'resolve'>,
  idOrg: number,
  earlier: readonly (ToolRequest | null)[],
): Promise<EarlierOutputs> {
  const locate = async (path: string): Promise<string | null> => {
    try {
      return await files.resolve(idOrg, path, false);
    } catch (error) {
      // its own execution has the complaint
      if (error instanceof AppError) return null;
      throw error;
    }
  };
  const written: { readonly as: ReadAs; readonly location: string }[] = [];
  for (const request of earlier) {
    if (request?.out === undefined || storesNothing(request) || request.saveMode === 'print-schema') continue;
    const target = parseTarget(request.out);
    if ('fault' in target) continue;
    if (target.kind !== 'folder' && target.kind !== 'duckdb' && target.kind !== 'sqlite') continue;
    const location = await locate(target.kind === 'folder' ? target.path : target.file);
    if (location !== null)
      written.push({ as: request.tool === 'er2xml' ? 'documents' : target.kind, location });
  }
  return {
    async makes(path, as) {
      if (written.length === 0) return false;
      const isBelow = as === 'documents' || as === 'rows';
      const location = await locate((isBelow ? parsePathPattern(path)?.folder : undefined) ?? path);
      if (location === null) return false;
      return written.some((one) => {
        if (one.as !== (as === 'rows' ? 'folder' : as)) return false;
        return location === one.location || (isBelow && location.startsWith(`${one.location}/`));
      });
    },
  };
}
