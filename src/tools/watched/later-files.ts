/** Files of a watch that bring documents of one key: the later one counts, by the time when it was changed, then by its name. */
import type { WatchedFiles } from '../../jobs/request/shape.ts';
import { unpacked } from '../../watches/names.ts';
import type { ToolSession } from '../session/tool-session.ts';

export interface FileOfWatch {
  readonly name: string;
  /** modification time, epoch milliseconds; if an object has none, the time when it was first found */
  readonly modified: number;
}

/**
 * Returns the file of the watch that brought a document, by the document's name in `_documents`. Documents from elsewhere are left out.
 */
export type FilesOfDocuments = (documents: readonly string[]) => Promise<ReadonlyMap<string, FileOfWatch>>;

/** Whether the second file is the later one. */
export function isLater(first: FileOfWatch, second: FileOfWatch): boolean {
  return first.modified === second.modified ? second.name > first.name : second.modified > first.modified;
}

/** The file of a job that brings a document; null if it is none of them. */
export function filesOfJob({ files }: WatchedFiles): (document: string) => FileOfWatch | null {
  const known = new Map<string, FileOfWatch>();
  for (const { name, modified = 0 } of files)
    known.set(name, { name, modified }).set(unpacked(name), { name, modified });
  return (document) => fileAmong(known, document);
}

/** The files that brought documents of earlier jobs, as the watch knows them. */
export function filesOfWatch({ home, idOrg }: ToolSession, idWatch: number): FilesOfDocuments {
  return async (documents) => {
    const names = new Set(documents.flatMap((document) => possibleFiles(document)));
    const asked = [...names].flatMap((name) => [name, `${name}.gz`, `${name}.GZ`]);
    const known = new Map<string, FileOfWatch>();
    for (const file of await home.adapters.watches.listBroughtFiles(idOrg, idWatch, asked))
      known.set(file.name, file).set(unpacked(file.name), file);
    const found = new Map<string, FileOfWatch>();
    for (const document of documents) {
      const file = fileAmong(known, document);
      if (file !== null) found.set(document, file);
    }
    return found;
  };
}

function fileAmong(files: ReadonlyMap<string, FileOfWatch>, document: string): FileOfWatch | null {
  for (const name of possibleFiles(document)) {
    const file = files.get(name);
    if (file !== undefined) return file;
  }
  return null;
}

/** `a.zip/b.xml#3`: that name itself, `a.zip/b.xml` (`--row-tag`), and `a.zip` (a member of an archive). */
function possibleFiles(document: string): string[] {
  const names = [document];
  const part = document.replace(/#\d+$/, '');
  if (part !== document) names.push(part);
  for (let at = document.lastIndexOf('/'); at > 0; at = document.lastIndexOf('/', at - 1))
    names.push(document.slice(0, at));
  return names;
}
