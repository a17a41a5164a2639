/** Documents among the inputs: a member is a file, an entry of an archive, or a range of one. */
import type { RemoteFile } from './remote/read-place.ts';
import type { Spooled } from './file-spool.ts';
import type { FileSection } from './open-file.ts';
import type { ExternalParts } from '../engine/xml/dtd/document-type.ts';
import type { OpenDocument } from '../engine/shred/open-document.ts';
import type { TextLocation } from '../engine/xml/tokens.ts';

/** One document or XSD file. Its bytes must be read before the next member is requested. */
export interface InputMember {
  /** name for the user, relative to the folder or archive that holds the document */
  readonly name: string;
  /** the file on disk that holds it, for messages */
  readonly path: string;
  /** bytes on disk that reading it takes, for progress; 0 for members of an archive after its first */
  readonly diskBytes: number;
  /** the source for other processes: the file on disk, and the index among an archive's members, from 0 */
  readonly source: MemberSource;
  /** `fleeting`: the bytes of a chunk are needed only until the next is asked for, or the next member. */
  chunks(fleeting?: 'fleeting'): DocumentBytes;
  /** absent if the document can only be read from its beginning to its end */
  readonly parts?: DocumentParts;
  /** for a row of `--from`: its other columns by name, with the types of table columns */
  readonly carried?: CarriedValues;
  /** its DTD, and other external parts; absent: none of them is read */
  readonly external?: ExternalParts;
  /** `--concatenated`: start of the document in its file, from 1 */
  readonly start?: Pick<TextLocation, 'line' | 'column'>;
  /** known from outside of the document */
  readonly encoding?: string;
  /** the range of the document that `chunks` returns, if not all of it */
  readonly range?: DocumentRange;
  /** SHA-256 (hex) of all bytes of `chunks`, which fails if the bytes have changed */
  readonly sha256?: string;
}

/** The bytes of a document: a stream, or all chunks at once if the document is small. */
export type DocumentBytes = AsyncIterable<Uint8Array> | readonly Uint8Array[];

/** Yields one chunk after the other, for consumers that accept any form of bytes. */
export async function* oneByOne(bytes: DocumentBytes): AsyncGenerator<Uint8Array> {
  yield* bytes;
}

export type CarriedValues = Readonly<Record<string, string | null>>;

export interface MemberSource {
  /** the file on disk */
  readonly file: string;
  /** place among the members of an archive, from 0 */
  readonly member: number;
  /** its bytes are not those of the disk */
  readonly packed: boolean;
  /** reached without unpacking those before it */
  readonly direct: boolean;
  /** the folder that contains the references of a document; absent: it follows from the names */
  readonly root?: string;
  /** the place of its bytes: beside others in that file, or still at the remote place; absent: the file is the document or an archive */
  readonly elsewhere?: Spooled | RemoteFile;
}

/** Returns a key that identifies a file, or a member of an archive, regardless of the other inputs. */
export function sourceKey({ source, name, path }: Pick<InputMember, 'source' | 'name' | 'path'>): string {
  return keyOfSource(source.file, path === source.file ? null : name);
}

/** `member`: its name in the archive that the file is; null: the file itself. */
export function keyOfSource(file: string, member: string | null): string {
  return `${file}\n${member ?? ''}`;
}

/** A document that is a file by itself. */
export interface DocumentParts {
  /** needed as fleetingly */
  bytes(range: FileSection): AsyncIterable<Uint8Array>;
  /** returns the modification time of the file, in ms */
  modified(): Promise<number>;
}

/** The first range begins with the document, the last ends with it; together they are all of its bytes. */
export interface DocumentRange {
  /** bytes of the file; `to`: behind the last */
  readonly from: number;
  readonly to: number;
  /** start of the rows */
  readonly location: TextLocation;
  /** number of the first row element, from 1 */
  readonly number: number;
  /** text to read before them: the prolog before the root element, and the start tags that are open; '' for the first range */
  readonly lead: string;
  /** attributes of these tags */
  readonly attributes: number;
  /** read behind them: end tags; '' for the last range */
  readonly trail: string;
  /** the file as it was cut: its SHA-256, and when it had last been changed, in ms */
  readonly sha256: string;
  readonly modified: number;
  /** for a range within one document; absent: its row elements are documents */
  readonly within?: PlaceInDocument;
}

/** The state with which a range continues a document. */
export interface PlaceInDocument {
  /** elements that are open at the start of the range */
  readonly open: OpenDocument;
  /** it ends with the document */
  readonly isLast: boolean;
  /** size of the whole document */
  readonly bytes: number;
}
