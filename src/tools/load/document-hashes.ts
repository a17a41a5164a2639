/** Documents by their SHA-256: which of them are to be loaded. */
import { partText } from '../../engine/shred/row-tag/parts.ts';
import type { MergeOrder, RowSink } from '../../ports/row-sink.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { InputMember } from '../../inputs/members.ts';
import { smallFileBytes } from '../../inputs/open-file.ts';
import { hashDocument } from '../../inputs/read-document.ts';
import { sha256Of } from '../../storage/staging/durable-file.ts';
import type { ConversionDetails } from '../reports/conversion-result.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { RemovedFiles, ReplacedFile } from '../../ports/stores/watches.ts';
import type { Rejects } from './findings.ts';

/** Returns the SHA-256 that identifies a document: a file's own, or one derived from the file's and the place in it. */
export function partHash(fileSha256: string, number: number | null): string {
  return number === null ? fileSha256 : sha256Of(partText(fileSha256, number));
}

export interface DocumentHashes {
  /** hashes by input index; null for a document that must not be loaded. Null as a whole if they need not be known before. */
  readonly hashes: readonly (string | null)[] | null;
  /** by input index, for large files: modification time before they were hashed, in ms */
  readonly modified?: readonly (number | null)[];
  /** documents that are left out because they are loaded already, or occurred before among the inputs */
  readonly skipped: number;
  /** number of the `skipped` documents that occurred earlier among the inputs; absent if repeats are not checked */
  readonly repeated?: number;
  /** `--row-tag`, by input index: numbers of the documents in that file that are left out */
  readonly leftOut?: ReadonlyMap<number, readonly number[]>;
  /** `-S m` */
  readonly merge?: MergeOrder;
  /** for a watch: number of documents skipped because a later file has their key */
  readonly superseded?: number;
  readonly replacedFiles?: readonly ReplacedFile[];
  /** `-S m`: files of other watches whose documents are replaced or removed */
  readonly removed?: RemovedFiles | undefined;
}

/** Returns the replaced files, which the job record keeps. */
export function replacedFilesOf({
  replacedFiles = [],
  removed,
}: DocumentHashes): Pick<ConversionDetails, 'replaced_files' | 'removed'> {
  return {
    ...(replacedFiles.length === 0 ? {} : { replaced_files: replacedFiles }),
    ...(removed === undefined ? {} : { removed }),
  };
}

/** SHA-256 of files and members, by input index. */
export interface InputHashes {
  readonly hashes: readonly string[];
  /** for large files: their modification time before they were hashed, in ms */
  readonly modified: readonly (number | null)[];
}

export type HashInputs = (inputs: InputSet, rejects: Pick<Rejects, 'has'>) => Promise<InputHashes>;

/** Hashes in this process. A rejected document may be one that cannot be read. */
export async function hashHere(inputs: InputSet, rejects: Pick<Rejects, 'has'>): Promise<InputHashes> {
  const hashes: string[] = [];
  const modified: (number | null)[] = [];
  for await (const member of inputs.members()) {
    if (rejects.has(hashes.length)) {
      modified.push(null);
      hashes.push('');
      continue;
    }
    modified.push(await modifiedOf(member));
    hashes.push(await hashDocument(member));
  }
  return { hashes, modified };
}

/**
 * Returns the modification time of a large file, in ms, or null if it is not needed, because the file is read at once, or cannot be
 * read again.
 */
export async function modifiedOf({ diskBytes, parts }: InputMember): Promise<number | null> {
  return (diskBytes > smallFileBytes ? await parts?.modified() : null) ?? null;
}

/**
 * `--skip-loaded`, `--keys hash`: a document that is in the target, or occurred before among the inputs, is not loaded. Keys derived
 * from a document's content would be in use already, which makes loading it again harmless.
 */
export async function hashesToLoad(
  { request, log }: Pick<ToolSession, 'request' | 'log'>,
  inputs: InputSet,
  rejects: Rejects,
  sink: Partial<Pick<RowSink, 'loadedDocuments'>>,
  byOthers: boolean,
  hashInputs: HashInputs,
): Promise<DocumentHashes> {
  const { skipLoaded, keys, rowTag } = request;
  // the hash of a part follows from that of its file, which must be known before; other hashes are computed while the file is cut
  if (!skipLoaded && keys === 'sequence' && (rowTag === undefined || byOthers))
    return { hashes: null, skipped: 0 };
  const { hashes, modified } = await hashInputs(inputs, rejects);
  if (!skipLoaded && keys === 'sequence') return { hashes, modified, skipped: 0 };
  // a file is published whole: if its first part is in the target, all are
  const first = rowTag === undefined ? null : 1;
  const parts = new Map(
    hashes.filter((sha256) => sha256 !== '').map((sha256) => [partHash(sha256, first), sha256]),
  );
  const loaded = await sink.loadedDocuments!([...parts.keys()]);
  const known = new Set([...loaded].map((sha256) => parts.get(sha256)!));
  const taken = new Set<string>();
  let skipped = 0;
  let repeated = 0;
  const toLoad = hashes.map((sha256, inputIndex) => {
    if (rejects.has(inputIndex)) return null;
    if (known.has(sha256)) {
      skipped += 1;
      if (taken.has(sha256)) repeated += 1;
      return null;
    }
    known.add(sha256);
    taken.add(sha256);
    return sha256;
  });
  const there = skipped - repeated;
  if (there > 0)
    log(
      there === 1
        ? '1 document is already in the target and was skipped'
        : `${there} documents are already in the target and were skipped`,
    );
  if (repeated > 0)
    log(
      repeated === 1
        ? '1 document is identical to an earlier one of this load and was skipped'
        : `${repeated} documents are identical to earlier ones of this load and were skipped`,
    );
  return { hashes: toLoad, modified, skipped, repeated };
}
