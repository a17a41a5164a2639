/** What it costs to find the places to cut a large file at: in pieces, by executors, what the job's machine makes of these, and in one pass. */
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { openInputs } from '../../../src/inputs/list-files.ts';
import {
  splitDocument,
  countPieces,
  rangesOfPieces,
  surveyPiece,
} from '../../../src/inputs/readable-ranges.ts';

/** Of this process, in seconds of a processor. */
export interface CuttingCosts {
  readonly pieces: number;
  readonly together: number;
  readonly onePass: number;
}

const rowTag = { namespaceUri: null, localName: 'order' };

export async function measureCutting(path: string, rangeBytes: number): Promise<CuttingCosts> {
  const cutting = { rows: { rowTag }, rangeBytes };
  const inputs = await openInputs([path], () => true);
  const [member] = await Array.fromAsync(inputs.members());
  const kernels = createTokenizerKernels();
  const onePass = await spent(() =>
    splitDocument(member!, { rowTag, rangeBytes, limits: defaultEngineLimits, kernels, sha256: '' }),
  );
  const pieces = await spent(async () => {
    const found = [];
    for (let piece = 0; piece < (await countPieces(member!, cutting)); piece += 1)
      found.push(await surveyPiece(member!, piece, cutting));
    return found;
  });
  const modified = await member!.parts!.modified();
  const together = await spent(() => rangesOfPieces(member!, pieces.result, cutting, modified));
  if (JSON.stringify(together.result) !== JSON.stringify(onePass.result))
    throw new Error('the pieces of a file and one pass over it tell other places to cut it at');
  return { pieces: pieces.seconds, together: together.seconds, onePass: onePass.seconds };
}

async function spent<T>(work: () => Promise<T>): Promise<{ readonly seconds: number; readonly result: T }> {
  const from = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(from);
  return { seconds: (user + system) / 1e6, result };
}
