/** Files of a table that were written anew: once for all formats and tries, where these ask for the same. */
import { join } from 'node:path';
import { dataFolder, type DataFiles, type LocalRows, type Rewriting } from '../data-files.ts';
import { jobMark } from '../../folder/contents/file-names.ts';
import { localFiles } from '../documents/touched-files.ts';
import type { LakeStep } from '../manifest.ts';
import type { HeldLakePlace } from '../place.ts';
import type { NewFile } from '../table-format.ts';
import type { NewestVersions } from './newest-versions.ts';

export interface RewritingPlace {
  readonly place: HeldLakePlace;
  readonly step: LakeStep;
  /** folder of this machine */
  readonly staging: string;
  readonly files: DataFiles;
}

export class RewrittenFiles {
  readonly #inStep: RewritingPlace;
  readonly #directory: string;
  readonly #mark: string;
  readonly #made = new Map<string, NewFile | null>();

  constructor(inStep: RewritingPlace, directory: string) {
    this.#inStep = inStep;
    this.#directory = directory;
    this.#mark = jobMark(inStep.step.job, inStep.step.jobUuid);
  }

  names(): readonly string[] {
    return [...this.#made.values()].flatMap((file) => (file === null ? [] : [file.name]));
  }

  /** All rows of files of the table, by their paths below its folder. */
  async merged(
    paths: readonly string[],
    rows: number,
    merging: Pick<Rewriting, 'columns' | 'fieldIds'>,
  ): Promise<NewFile> {
    const { place, staging, files } = this.#inStep;
    const key = JSON.stringify([paths, merging.columns, merging.fieldIds]);
    const known = this.#made.get(key);
    if (known !== undefined && known !== null) return known;
    const local = await localFiles(
      place,
      paths.map((path) => `${this.#directory}/${path}`),
    );
    const made = await files.merge(local, this.#mark, rows, merging);
    await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }

  /** Null where no row stays. */
  async of(file: LocalRows, rewriting: Rewriting): Promise<NewFile | null> {
    const { place, staging, files } = this.#inStep;
    const { conversions, where, columns, fieldIds, values = [] } = rewriting;
    const key = JSON.stringify([file, [...conversions], where, columns, fieldIds, [...values]]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = await files.rewrite(file, this.#mark, rewriting);
    if (made !== null)
      await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }
}

export interface StepPlace extends RewritingPlace {
  readonly newest: NewestVersions;
  /** by folder of a table, of all tries */
  readonly rewritten: Map<string, RewrittenFiles>;
  /** a dead process may have begun it */
  readonly isRecovery: boolean;
}
