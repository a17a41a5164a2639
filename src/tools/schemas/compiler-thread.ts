/** The program of a compiler thread: makes a source model and a relational model from an XSD set and documents. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import {
  modelOf,
  type CompiledApart,
  type CompilerAnswer,
  type CompilerQuestion,
  type CompilerRequest,
  type PackedModels,
  type PackedNextSchema,
  type PackedNextSources,
  type PackedSources,
} from '../../process/schema-compiler.ts';
import { nextModel } from '../../service/catalog/logical-schema.ts';
import { formatDiagnostic, InputError } from '../../engine/diagnostics.ts';
import { createStatisticsCollector } from '../../engine/infer/collector.ts';
import { inferSourceModel } from '../../engine/infer/source-model.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { packRelationalModel, packSourceModel, unpackSourceModel } from '../../engine/model/packed/models.ts';
import { createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { compileXsdSet } from '../../engine/xsd/compile-set.ts';
import { XsdSetError } from '../../engine/xsd/report.ts';
import { AppError } from '../../errors.ts';
import type { Limits } from '../../config/limits.ts';
import type { OriginFile } from '../../ports/stores/catalog.ts';
import { archiveLimitsOf } from '../../inputs/archives/kinds.ts';
import { requireDocumentElements, setFingerprint } from './set-fingerprint.ts';
import { documentTest } from '../../inputs/document-names.ts';
import { openInputs } from '../../inputs/list-files.ts';
import { buildModel } from './build-model.ts';
import { readDocument } from '../../inputs/read-document.ts';
import { compileOptions, readXsdSet } from '../../inputs/xsd-files.ts';
import { parseToolArguments } from '../../service/jobs/request/read-request.ts';

/** The limits that the thread receives beside the sources. */
export type CompilerLimits = Pick<Limits, 'engine' | 'archiveExpansion' | 'archiveMembers'>;

const request = workerData as CompilerRequest;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
void answer().then((message) => parentPort!.postMessage(message));

async function answer(): Promise<CompilerAnswer> {
  try {
    if ('next' in request) return { next: generate(request.next) };
    return { compiled: await compile(request.sources, request.settings as CompilerLimits) };
  } catch (error) {
    if (error instanceof XsdSetError) {
      const fatal = error.diagnostics.filter(({ severity }) => severity === 'error');
      const errors = fatal.map((diagnostic) => ({ pointer: '/xsd', detail: formatDiagnostic(diagnostic) }));
      return { fault: error.message, errors };
    }
    if (error instanceof InputError) {
      return { fault: error.message, errors: [{ pointer: '/xml', detail: error.message }] };
    }
    if (error instanceof AppError) return { fault: error.message, errors: error.errors };
    throw error;
  }
}

function generate(packed: PackedNextSources): PackedNextSchema {
  const { newest } = packed;
  const { source, model } = nextModel({
    ...packed,
    source: unpackSourceModel(packed.source),
    newest: newest === null ? null : modelOf(newest),
  });
  return { source: source === null ? null : packSourceModel(source), model: packRelationalModel(model) };
}

async function compile(wanted: PackedSources, limits: CompilerLimits): Promise<CompiledApart> {
  const set =
    wanted.xsd.length === 0
      ? null
      : await readXsdSet(wanted.xsd, {
          follow: async (path) => (await ask({ path })) as string | null,
          links: 'refuse',
          limits: archiveLimitsOf(limits),
        });
  const request = parseToolArguments('xsd2er', [
    'schema',
    ...(wanted.root === undefined ? [] : ['--root', wanted.root]),
    ...(wanted.nameMaxLength === undefined ? [] : ['--name-max-len', String(wanted.nameMaxLength)]),
    ...(wanted.defaultTextLength === undefined
      ? []
      : ['--default-varchar-len', String(wanted.defaultTextLength)]),
  ]);
  const { mapLevel, previous, keepNames = true } = wanted;
  // names of an earlier version are no part of a fingerprint
  const fingerprint =
    set === null || previous !== undefined
      ? null
      : setFingerprint(set, { ...request, mapLevel }, limits.engine);
  const isKnown = fingerprint !== null && (await ask({ fingerprint })) === true;
  const xsd =
    set === null || isKnown ? null : compileXsdSet(set.files, compileOptions(set, request, limits.engine));
  if (xsd !== null) requireDocumentElements(xsd.model, set!.files, xsd.diagnostics);
  const documents = wanted.xml.length === 0 ? null : await readDocuments(wanted.xml, limits);
  const makeModels = (): PackedModels => {
    const source = xsd?.model ?? inferSourceModel(documents!.statistics);
    const choices = {
      mapLevel,
      ...(previous === undefined ? {} : { previous: modelOf(previous), keepNames }),
    };
    const model = buildModel(request, source, choices);
    return { source: packSourceModel(source), model: packRelationalModel(model) };
  };
  return {
    models: isKnown ? null : makeModels(),
    statistics: documents?.statistics ?? null,
    files: [...(set?.records ?? []), ...(documents?.files ?? [])],
    fingerprint,
    diagnostics: xsd?.diagnostics ?? [],
  };
}

async function ask(question: CompilerQuestion): Promise<boolean | string | null> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort!.postMessage(question);
  const [known] = (await once(parentPort!, 'message')) as [boolean | string | null];
  return known;
}

async function readDocuments(
  paths: readonly string[],
  limits: CompilerLimits,
): Promise<{ readonly statistics: DocumentStatistics; readonly files: readonly OriginFile[] }> {
  const inputs = await openInputs(paths, documentTest(false), archiveLimitsOf(limits), 'refuse');
  const names = createNameTable();
  const kernels = createTokenizerKernels();
  const collector = createStatisticsCollector(names, { samples: true });
  const files: OriginFile[] = [];
  for await (const member of inputs.members()) {
    collector.beginDocument();
    const { bytes, sha256 } = await readDocument(member, {
      names,
      limits: limits.engine,
      kernels,
      onBatch: (batch) => collector.consume(batch),
      afterChunk: () => undefined,
    });
    collector.endDocument(bytes);
    files.push({ name: member.name, bytes, sha256 });
  }
  if (files.length === 0)
    throw new AppError(
      'unprocessable_input',
      'the input holds no document, which is a file whose content begins as XML does',
    );
  return { statistics: collector.statistics, files };
}
