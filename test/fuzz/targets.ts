/** Everything that is fuzzed, by name. */
import { createArchivesTarget } from './archives-target.ts';
import { createDocumentsTarget } from './documents-target.ts';
import type { FuzzTarget } from './fuzzer.ts';
import { createOptionsTarget } from './options-target.ts';
import { createPackageTarget } from './package-target.ts';
import { createRestTarget } from './rest-target.ts';
import { createSvgTarget } from './svg-target.ts';
import { createTokenizerTarget } from './tokenizer-target.ts';
import { createXsdTarget } from './xsd-target.ts';

export const fuzzTargets: Readonly<Record<string, () => FuzzTarget | Promise<FuzzTarget>>> = {
  tokenizer: createTokenizerTarget,
  xsd: createXsdTarget,
  documents: createDocumentsTarget,
  archives: createArchivesTarget,
  options: createOptionsTarget,
  svg: createSvgTarget,
  package: createPackageTarget,
  rest: createRestTarget,
};
