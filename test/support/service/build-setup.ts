/** Builds the programs before a run, so that the processes which tests start have the sources of this moment and start fast. */
import * as esbuild from 'esbuild';
import { join } from 'node:path';
import { isBuildCurrent } from '../../../bin/launch.mjs';
import { buildPrograms, constants } from '../../../scripts/build.mjs';
import { projectRoot } from '../../rules/project-files.ts';

export default async function setup(): Promise<void> {
  const folder = join(projectRoot, 'dist');
  const isCurrent = ['service', 'tools'].every((name) =>
    isBuildCurrent(join(folder, `${name}.cjs`), join(projectRoot, `src/programs/${name}.ts`)),
  );
  if (!isCurrent) await buildPrograms(esbuild, folder, await constants(esbuild));
}
