/** xsd2er: an XSD set becomes an origin, its logical schema and mapping. */
import { formatDiagnostic, type Diagnostic } from '../engine/diagnostics.ts';
import { compileXsdSet } from '../engine/xsd/compile-xsd-set.ts';
import { noDetails, type Conversion } from './conversion.ts';
import { buildModel, choicesAfterParent, storeModel } from './logical-schema.ts';
import { storeOrigin } from './new-origin.ts';
import { inputPaths } from './session-inputs.ts';
import type { ToolSession } from './tool-session.ts';
import { readXsdSet } from './xsd-files.ts';

/** diagnostics printed one by one; the rest are counted */
const maxPrinted = 100;

export async function convertXsd(session: ToolSession): Promise<Conversion> {
  const { request } = session;
  const steps: [string, number][] = [];
  let since = performance.now();
  const step = (name: string): void => {
    steps.push([name, (performance.now() - since) / 1000]);
    since = performance.now();
  };
  const paths = await inputPaths(session);
  const { files, records, entries, bytes } = await readXsdSet(paths, session.byHand, session.archiveLimits);
  step('read');
  const { model: source, diagnostics } = compileXsdSet(files, {
    missing: request.missing,
    limits: session.limits,
    ...(entries === undefined ? {} : { entries }),
  });
  printDiagnostics(session, diagnostics);
  step('compile');
  session.log(
    `XSD set: ${files.length} files, ${source.elements.length} elements, ${source.types.length} types, ` +
      `${source.primaryRoots > 0 ? source.primaryRoots : source.roots.length} root elements`,
  );
  const model = buildModel(request, source, await choicesAfterParent(session));
  step('map');
  session.log(
    `model at level ${model.mapLevel}: ${model.tables.length} tables, ${model.mappings.length} mappings`,
  );
  let origin: number | null = null;
  let logical: number | null = null;
  if (!request.dryRun) {
    const record = await storeOrigin(session, source, 'xsd', records);
    await session.report({ idSch: record.id_sch });
    const stored = await storeModel(session, record.id_sch, model);
    origin = record.id_sch;
    logical = stored.idLschma;
    await session.report({ idLschma: logical, messages: files.length, progress: 1 });
    step('store');
  }
  return {
    origin,
    logical,
    documents: files.length,
    rejected: 0,
    rows: {},
    mapped: new Set(model.mappings.map((mapping) => mapping.xpath)).size,
    unknown: 0,
    bytes,
    details: noDetails,
    steps,
  };
}

/** A fault that makes the set unusable was thrown; those that leave it usable are reported like all others. */
function printDiagnostics(session: ToolSession, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics.slice(0, maxPrinted))
    session.log(`${diagnostic.severity}: ${formatDiagnostic(diagnostic)}`);
  if (diagnostics.length > maxPrinted)
    session.log(`… and ${diagnostics.length - maxPrinted} more diagnostics`);
}
