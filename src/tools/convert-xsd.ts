/** xsd2er: an XSD set becomes an origin, its logical schema and mapping. */
import { createHash } from 'node:crypto';
import { formatDiagnostic, type Diagnostic } from '../engine/diagnostics.ts';
import { compileXsdSet } from '../engine/xsd/compile-xsd-set.ts';
import type { OriginFile } from '../ports/catalog-store.ts';
import type { Conversion } from './conversion.ts';
import { openInputs } from './input-files.ts';
import { buildModel, defaultMapLevel, storeModel } from './logical-schema.ts';
import { storeOrigin } from './new-origin.ts';
import type { ToolSession } from './tool-session.ts';

const isXsd = (name: string): boolean => /\.xsd$/i.test(name);
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
  const paths = await Promise.all(
    request.inputs.map((input) => (session.byHand ? input : session.resolvePath(input, true))),
  );
  const inputs = await openInputs(paths, isXsd);
  const files: { name: string; bytes: Uint8Array }[] = [];
  const records: OriginFile[] = [];
  let bytes = 0;
  try {
    for await (const member of inputs.members()) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of member.chunks()) chunks.push(chunk);
      const content = new Uint8Array(Buffer.concat(chunks));
      bytes += content.length;
      files.push({ name: member.name, bytes: content });
      const sha256 = createHash('sha256').update(content).digest('hex');
      records.push({ name: member.name, bytes: content.length, sha256 });
    }
  } finally {
    await inputs.dispose();
  }
  step('read');
  const { model: source, diagnostics } = compileXsdSet(files, { missing: request.missing, limits: session.limits });
  printDiagnostics(session, diagnostics);
  step('compile');
  session.log(
    `XSD set: ${files.length} files, ${source.elements.length} elements, ${source.types.length} types, ` +
      `${source.primaryRoots > 0 ? source.primaryRoots : source.roots.length} root elements`,
  );
  const model = buildModel(request, source, request.mapLevel ?? defaultMapLevel);
  step('map');
  session.log(`model at level ${model.mapLevel}: ${model.tables.length} tables, ${model.mappings.length} mappings`);
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
    steps,
  };
}

/** A fault that makes the set unusable was thrown; those that leave it usable are reported like all others. */
function printDiagnostics(session: ToolSession, diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics.slice(0, maxPrinted)) session.log(`${diagnostic.severity}: ${formatDiagnostic(diagnostic)}`);
  if (diagnostics.length > maxPrinted) session.log(`… and ${diagnostics.length - maxPrinted} more diagnostics`);
}
