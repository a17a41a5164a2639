/** Everything that is fuzzed, by name. */
import { createArchivesTarget } from './archives.ts';
import { createDocumentsTarget } from './documents.ts';
import type { FuzzTarget } from '../fuzzer.ts';
import { createOptionsTarget } from './options.ts';
import { createPackageTarget } from './package.ts';
import { createRestTarget } from '../rest/service.ts';
import { createSvgTarget } from './svg.ts';
import { createTokenizerTarget } from './tokenizer.ts';
import { createXsdTarget } from './xsd-set.ts';

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
