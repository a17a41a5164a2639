/** Removes documents from a folder of tables: rewrites the files that contain rows of them, in one version per table. */
import { randomBytes } from 'node:crypto';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/keys.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/row-sink.ts';
import { fileFault } from '../../../storage/staging/durable-file.ts';
import { decideStep, stagingPrefix } from '../place/journal.ts';
import type { HeldLakePlace, LakeTarget } from './place.ts';
import { isByLogicalSchema } from '../folder/manifest.ts';
import { finishStep, holdPlace } from './finish-step.ts';
import { readLakeLoads } from './look.ts';
import type { LakeManifest, LakeStep, TableStep } from './manifest.ts';
import { loadsStep } from './loads-table.ts';
import { isBesideData, jobsThatStay, removalStep, rowsOfDocuments } from './removed-rows.ts';
import { ExistingTables } from './existing-tables.ts';

export function createLakeRowRemover(target: LakeTarget): RowRemover {
  const { label } = target;
  return {
    label,
    loads: () => readLakeLoads(target),
    removeDocuments: async (plan, fence) => {
      try {
        const place = await holdPlace(target, false);
        try {
          return await removeDocuments(place, plan, fence);
        } finally {
          await place.release();
        }
      } catch (error) {
        throw fileFault(error, label);
      }
    },
    close: () => Promise.resolve(),
  };
}

async function removeDocuments(
  place: HeldLakePlace,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  const { idJob, jobUuid, installation, model } = plan;
  const { label } = place;
  const manifest = await place.readManifest();
  if (manifest === null) throw new AppError('not_found', `${label}: no documents were loaded there.`);
  if (manifest.jobs.some((job) => job.job_uuid === jobUuid)) return { documents: 0, rows: {}, already: true };
  const stagingName = `${stagingPrefix}${idJob}-${randomBytes(4).toString('hex')}`;
  const staging = await place.stage(stagingName);
  const tables = new ExistingTables(place, manifest, staging);
  let isDecided = false;
  try {
    for (const { name, columns } of model.tables) {
      const there = await tables.columns(name);
      if (there !== null && hasOtherKeys(columns, (key) => there.has(key)))
        throw new AppError('conflict', otherKeysMessage(label, name));
    }
    const keys = await documentKeys(tables, manifest, label, plan);
    const counts = await rowsOfDocuments(tables, manifest, keys);
    const rows = Object.fromEntries([...counts].filter(([name]) => !isBesideData(name)));
    const removed: Removed = { documents: keys.length, rows, already: false };
    if (plan.dryRun) return removed;
    const steps = stepsWithout(manifest, new Set(counts.keys()), keys);
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
    // the ledger's sums remain equal to what the target holds
    const record = {
      job_uuid: jobUuid,
      job: idJob,
      installation,
      id_sch: plan.idSch,
      id_lschma: plan.idLschma,
      model_sha256: plan.modelHash,
      published_at: new Date().toISOString(),
      documents: -keys.length,
      rows: -total,
      tables: [],
    };
    steps.push(await loadsStep(record, tables, staging));
    const step: LakeStep = {
      format: manifest.format,
      staging: stagingName,
      job: idJob,
      jobUuid,
      installation,
      tables: steps,
      manifest: { ...manifest, jobs: [...(await jobsThatStay(tables, manifest, keys)), record] },
    };
    await decideStep(place, step, async () => {
      if (!(await fence(removed)))
        throw new AppError('conflict', 'Another worker has taken over the job: nothing was removed.');
    });
    isDecided = true;
    await tables.close();
    await finishStep(place, { isRecovery: false });
    return removed;
  } finally {
    await tables.close();
    if (!isDecided) await place.discard(stagingName);
  }
}

/** Returns the keys of the documents, decimal digits. AppError `not_found` if there is none. */
async function documentKeys(
  tables: ExistingTables,
  manifest: LakeManifest,
  label: string,
  { documentName, idLschma, modelHash }: RemovalPlan,
): Promise<readonly string[]> {
  const jobs = manifest.jobs
    .filter((job) => isByLogicalSchema(job, { modelHash }))
    .map((job) => standardLiteral(job.job_uuid));
  const rows =
    jobs.length === 0
      ? []
      : await tables.rows<{ key: string }>(
          sideTableNames.documents,
          (from) =>
            `SELECT ${fileKeyName}::VARCHAR AS key FROM ${from} WHERE name = ${standardLiteral(documentName)} AND job_uuid IN (${jobs.join(', ')})`,
        );
  if (rows.length > 0) return rows.map(({ key }) => key);
  throw new AppError(
    'not_found',
    `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
  );
}

/** Returns the steps, `_documents` last. */
function stepsWithout(
  manifest: LakeManifest,
  holding: ReadonlySet<string>,
  keys: readonly string[],
): TableStep[] {
  return manifest.tables
    .filter(({ name }) => holding.has(name))
    .toSorted(
      (a, b) => Number(a.name === sideTableNames.documents) - Number(b.name === sideTableNames.documents),
    )
    .map(({ name, directory }) => removalStep(name, directory, keys));
}
