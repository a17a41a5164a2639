/** The record of a job to be stored. */
import type { NewJob } from '../ports/stores/jobs.ts';
import type { JobType } from './record.ts';
import { secretsIn } from './request/known-secrets.ts';
import { maskedParams, paramsJson } from './request/params.ts';
import type { ToolRequest } from './request/tool-request.ts';
import type { Tool } from './request/tools.ts';
import { createMask } from './mask-secrets.ts';

const jobTypes: Readonly<Record<Tool, JobType>> = {
  xsd2er: 'Schema',
  xml2er: 'Parse',
  er2xml: 'Write',
  unload: 'Unload',
};

/** Settings of the built-in engine, as the job record shows them. */
export const engineDefaults: Readonly<Record<string, string>> = { master: 'local[*]' };

/**
 * `sealed` is the request from `sealRequest`, `sparkConf` the operator's settings of Spark, `secrets` those of its credential. Also for
 * jobs that a person starts by hand.
 */
export function newJob(
  request: ToolRequest,
  sealed: string,
  sparkConf: Readonly<Record<string, string>>,
  secrets: readonly string[] = [],
): NewJob {
  const input = request.from ?? request.in ?? (request.inputs.length === 0 ? null : request.inputs.join(' '));
  const mask = createMask([...secretsIn(request), ...secrets]);
  return {
    jobType: jobTypes[request.tool],
    tool: request.tool,
    params: maskedParams(request, secrets),
    paramsJson: paramsJson(request, request.engine === 'spark' ? sparkConf : engineDefaults, secrets),
    request: sealed,
    inputPath: input === null ? null : mask(input),
    outputPath: request.out === undefined ? null : mask(request.out),
    idSch: request.originId !== undefined && 'id' in request.originId ? request.originId.id : null,
    idParentJob: null,
  };
}
