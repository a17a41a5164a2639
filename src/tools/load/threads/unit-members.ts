/** Opens the documents of a thread's units for reading. Files opened for one unit serve the next, because units ascend. */
import { statSync } from 'node:fs';
import { AppError } from '../../../errors.ts';
import { documentTest } from '../../inputs/document-names.ts';
import { openInputs } from '../../inputs/list-files.ts';
import type { InputMember } from '../../inputs/members.ts';
import { inputFault } from '../../inputs/open-file.ts';
import { memberOfRange } from '../../inputs/readable-ranges.ts';
import { fileElsewhere, listedFile, walkFiles, type Walk } from '../../inputs/walk-files.ts';
import type { LoadingJob } from '../row-loader.ts';
import type { UnitMember } from '../spark/work.ts';

/** Members of an archive behind the last one that was read. */
interface OpenArchive {
  readonly file: string;
  readonly members: AsyncIterator<InputMember>;
  /** place of the last one, from 0; -1 */
  last: number;
}

export class UnitMembers {
  readonly #walk: Walk;
  #archive: OpenArchive | null = null;

  constructor({ takesXsd, archiveLimits, links }: Pick<LoadingJob, 'takesXsd' | 'archiveLimits' | 'links'>) {
    this.#walk = { test: documentTest(takesXsd), limits: archiveLimits, links };
  }

  /** Yields the members as the unit lists them: those of one archive are consecutive, in its order. */
  async *of(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    for (let at = 0; at < wanted.length;) {
      const end = wanted.findIndex((unit, index) => index > at && isFile(unit) !== isFile(wanted[at]!));
      const alike = wanted.slice(at, end < 0 ? undefined : end);
      at += alike.length;
      yield* isFile(alike[0]!) ? this.#files(alike) : this.#packed(alike);
    }
  }

  /** Closes the open files. */
  async close(): Promise<void> {
    const archive = this.#archive;
    this.#archive = null;
    await archive?.members.return?.();
  }

  async *#files(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    // the maker of the unit has checked the types of the files
    const files = wanted.map(({ file, name, path, elsewhere, root }) =>
      elsewhere === undefined
        ? { ...listedFile(file, name, sizeOf(file), 'given', root), archive: null }
        : fileElsewhere(path, name, elsewhere),
    );
    let at = 0;
    for await (const member of walkFiles(files, this.#walk)) {
      const { path, range } = wanted[at]!;
      at += 1;
      yield range === undefined ? { ...member, path } : memberOfRange({ ...member, path }, range);
    }
  }

  async *#packed(wanted: readonly UnitMember[]): AsyncIterable<InputMember> {
    for (const { file, member, name, path } of wanted) {
      if (this.#archive?.file !== file || this.#archive.last >= member) await this.#open(file);
      yield { ...(await this.#next(this.#archive!, member)), name, path };
    }
  }

  async #open(file: string): Promise<void> {
    await this.close();
    const { test, limits, links } = this.#walk;
    // the name chose its members when the units were made
    const inputs = await openInputs([file], test, limits, links);
    this.#archive = { file, members: inputs.members()[Symbol.asyncIterator](), last: -1 };
  }

  async #next(archive: OpenArchive, member: number): Promise<InputMember> {
    for (;;) {
      const { value, done } = await archive.members.next();
      if (done === true)
        throw new AppError('unprocessable_input', `${archive.file}: the file changed since the job began`);
      archive.last = value.source.member;
      if (archive.last === member) return value;
    }
  }
}

function isFile({ direct, packed }: UnitMember): boolean {
  return direct && !packed;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw inputFault(error, file);
  }
}
