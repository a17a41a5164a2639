/** Files that were dropped or chosen: with folders, and sorted into XSD sets and documents by their names. */

export type InputKind = 'xml' | 'xsd';

export interface InputFile {
  /** path with its folders, '/'-separated */
  readonly path: string;
  readonly file: File;
  readonly kind: InputKind;
  /** the name of an archive does not tell its content */
  readonly isArchive: boolean;
}

/** dropped at once; more belong into an archive */
export const mostFiles = 20_000;

const archive = /\.(?:zip|tar|tgz|tar\.gz)$/i;
const schema = /\.(?:xsd|dtd|ent)$/i;
/** the name of an OASIS XML Catalog, which resolves the references of a set */
const catalog = /(?:^|\/)catalog\.xml$/i;

export function sortInputs(files: readonly { readonly path: string; readonly file: File }[]): InputFile[] {
  const isSet = files.some(({ path }) => schema.test(path));
  return files.map(({ path, file }) => ({
    path,
    file,
    kind: schema.test(path) || (isSet && catalog.test(path)) ? 'xsd' : 'xml',
    isArchive: archive.test(path),
  }));
}

export function chosenFiles(list: FileList): { path: string; file: File }[] {
  return [...list]
    .filter(isWanted)
    .map((file) => ({ path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file }));
}

/** Excludes the files that operating systems leave in folders. */
function isWanted({ name }: { readonly name: string }): boolean {
  return !name.startsWith('.') && name !== 'Thumbs.db';
}

/**
 * Returns the dropped files, including those in folders. Must be called in the event itself, because the browser discards the drop
 * afterwards.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<{ path: string; file: File }[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return chosenFiles(transfer.files);
  const found: { path: string; file: File }[] = [];
  for (const entry of entries) await readEntry(entry, found);
  return found;
}

async function readEntry(entry: FileSystemEntry, found: { path: string; file: File }[]): Promise<void> {
  if (!isWanted(entry) || found.length > mostFiles) return;
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // a folder is listed piece by piece, until a piece is empty
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (piece.length === 0) return;
    for (const inner of piece.toSorted((a, b) => a.name.localeCompare(b.name))) await readEntry(inner, found);
  }
}
