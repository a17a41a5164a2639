/** The description of a load that tasks on Spark and threads of `--workers` get, so that they load documents as this process would. */
import type { EngineLimits } from '../../engine/limits.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import { requestDefaults, type ToolRequest } from '../../jobs/request/tool-request.ts';
import type { RowEncoding, RowSink } from '../../ports/rows/sink.ts';
import type { ArchiveLimits } from '../inputs/archives/limits.ts';
import type { LoaderSession, LoadOptions } from './row-loader.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** The settings for reading documents. Plain data: it can be written as JSON, and sent to a thread. */
export interface ReadingJob {
  readonly rowTag: RowElementName | null;
  readonly takesXsd: boolean;
  readonly limits: EngineLimits;
  readonly archiveLimits: ArchiveLimits;
  readonly links: 'follow' | 'refuse';
}

/** Plain data, too. */
export interface LoadingJob extends ReadingJob {
  readonly idJob: number;
  readonly jobUuid: string;
  readonly byHand: boolean;
  readonly request: Pick<
    ToolRequest,
    'keys' | 'saveMode' | 'unmapped' | 'keepsOtherRoots' | 'extraColumns' | 'noSamples' | 'root' | 'rowTag'
  >;
  readonly encoding: RowEncoding;
  readonly widensInPlace: boolean;
  readonly scalesDecimals: boolean;
  readonly withStatistics: boolean;
}

export function readingJob(
  { limits, archiveLimits, byHand }: Pick<ToolSession, 'limits' | 'archiveLimits' | 'byHand'>,
  { rowTag, takesXsd }: Pick<LoadOptions, 'rowTag' | 'takesXsd'>,
): ReadingJob {
  return { rowTag, takesXsd, limits, archiveLimits, links: byHand ? 'follow' : 'refuse' };
}

export function loadingJob(session: ToolSession, sink: RowSink, options: LoadOptions): LoadingJob {
  const { keys, saveMode, unmapped, keepsOtherRoots, extraColumns, noSamples, root, rowTag } =
    session.request;
  return {
    idJob: session.idJob,
    jobUuid: session.jobUuid,
    byHand: session.byHand,
    request: {
      keys,
      saveMode,
      unmapped,
      keepsOtherRoots,
      extraColumns,
      noSamples,
      ...(root === undefined ? {} : { root }),
      ...(rowTag === undefined ? {} : { rowTag }),
    },
    ...readingJob(session, options),
    encoding: sink.encoding,
    widensInPlace: sink.widensInPlace,
    scalesDecimals: sink.scalesDecimals,
    withStatistics: options.withStatistics,
  };
}

/** The session of a loader in another process: it reports nothing, because its findings are handed over when it ends. */
export function loaderSession(job: LoadingJob, onError: ToolRequest['onError'] = 'fail'): LoaderSession {
  return {
    request: { ...requestDefaults, tool: 'xml2er', ...job.request, onError },
    limits: job.limits,
    kernels: createTokenizerKernels(),
    idJob: job.idJob,
    jobUuid: job.jobUuid,
    byHand: job.byHand,
    log: () => undefined,
    progress: () => undefined,
  };
}
