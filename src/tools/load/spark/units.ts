/** What a job on Spark is cut into: some files or members of archives, or a range of one large file (`--row-tag`). */
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { RowElementName } from '../../../engine/shred/row-tag/elements.ts';
import { splitDocument } from '../../inputs/readable-ranges.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { UnitMember } from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import type { DocumentRange, InputMember } from '../../inputs/members.ts';

/** documents of a unit: what starting a process takes is shared by so many */
const maxUnitDocuments = 200;
/** Below, starting a process takes longer than its work. */
const minUnitBytes = 4 * 2 ** 20;
const unitsPerCore = 4;
/** where the settings say nothing of cores */
const usualCores = 16;

export interface UnitPlan {
  readonly inputs: InputSet;
  /** null: no file is cut */
  readonly rowTag: RowElementName | null;
  /** SHA-256 by input index, '' where it is not needed; null: the document is left out */
  readonly hashOf: (inputIndex: number) => string | null;
}

/** Bytes of a unit: so many that there are some for each core, and at most `svc.spark.range_bytes`. */
export function unitBytes(
  totalBytes: number,
  settings: Readonly<Record<string, string>>,
  maxBytes: number,
): number {
  const share = totalBytes / (unitsPerCore * (coresOf(settings) ?? usualCores));
  return Math.min(maxBytes, Math.max(minUnitBytes, Math.ceil(share)));
}

/** Cores that the settings give an application; null: they do not say. */
function coresOf(settings: Readonly<Record<string, string>>): number | null {
  const count = (name: string): number | null => Number(settings[name] ?? '') || null;
  const local = /^local(?:\[(\d+|\*))?/.exec(settings['spark.master'] ?? '');
  if (local !== null) return local[1] === '*' ? availableParallelism() : Number(local[1] ?? 1);
  const instances = count('spark.executor.instances') ?? count('spark.dynamicAllocation.maxExecutors');
  return (
    count('spark.cores.max') ?? (instances === null ? null : instances * (count('spark.executor.cores') ?? 1))
  );
}

/** Documents in their order, cut into units that lie in the work folder; answers how many there are. */
export async function writeUnits(
  session: ToolSession,
  work: string,
  { inputs, rowTag, hashOf }: UnitPlan,
): Promise<number> {
  const { spark } = session.home.config;
  const settings = { ...spark.conf, ...session.request.sparkConf };
  const rangeBytes = unitBytes(inputs.totalBytes, settings, spark.rangeBytes);
  const rangesOf = async (member: InputMember): Promise<readonly DocumentRange[]> => {
    const { limits, kernels } = session;
    return (
      (rowTag === null ? null : await splitDocument(member, { rowTag, limits, kernels, rangeBytes })) ?? []
    );
  };
  let members: UnitMember[] = [];
  let bytes = 0;
  let units = 0;
  const cut = async (): Promise<void> => {
    if (members.length === 0) return;
    await writeFile(join(work, 'units', `${units}.json`), JSON.stringify(members), { mode: 0o600 });
    units += 1;
    members = [];
    bytes = 0;
  };
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    const sha256 = hashOf(inputIndex);
    if (sha256 === null) continue;
    const { source, name, path, diskBytes } = member;
    const unit = { ...source, name, path, inputIndex, sha256 };
    const ranges = await rangesOf(member);
    if (bytes + diskBytes > rangeBytes || ranges.length > 0) await cut();
    for (const range of ranges) {
      members.push({ ...unit, range });
      await cut();
    }
    if (ranges.length > 0) continue;
    members.push(unit);
    bytes += diskBytes;
    if (members.length >= maxUnitDocuments) await cut();
  }
  await cut();
  return units;
}
