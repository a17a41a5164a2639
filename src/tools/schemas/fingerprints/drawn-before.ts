/** Pruned models that were drawn before: the same statistics, options and program need no drawing. */
import type { QName } from '../../../engine/model/source-model.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import { engineIdentity } from '../../../installation.ts';
import { sha256Of } from '../../../adapters/file-staging/sha256.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import type { SchemaBasis } from '../choice.ts';
import { shapingOptions } from './set-fingerprint.ts';

/** The inputs from which a model is drawn, beside the options of the run and the source model of its origin. */
export interface DrawnFrom {
  readonly idSch: number;
  readonly basis: Pick<SchemaBasis, 'stored' | 'isOfTarget'>;
  /** roots of documents that the basis lacks */
  readonly missing: readonly QName[];
  /** the part of the documents' statistics that decides (src/engine/map/deciding-statistics.ts) */
  readonly statistics: DocumentStatistics;
}

export interface EarlierDrawing {
  /** null: such a model was not drawn yet, or is gone */
  readonly known: StoredLogicalSchema | null;
  /** `drawn`: the resulting model */
  remember(drawn: StoredLogicalSchema): Promise<void>;
}

export async function findEarlierDrawing(session: ToolSession, from: DrawnFrom): Promise<EarlierDrawing> {
  const { request, idOrg, home } = session;
  const { catalog } = home.adapters;
  const run = [engineIdentity(), shapingOptions(request), request.rowTag, from.idSch];
  const statistics = hashOf(from.statistics);
  const fingerprintOf = (
    { stored, isOfTarget = false }: DrawnFrom['basis'],
    missing: readonly QName[],
  ): string => hashOf([run, statistics, stored?.modelHash, isOfTarget, missing]);
  const fingerprint = fingerprintOf(from.basis, from.missing);
  const found = await catalog.findDrawnSchema(idOrg, from.idSch, fingerprint);
  const known = found === null ? null : await schemaOf(found);
  return {
    known,
    // drawing again from the drawn model with the same documents returns that model
    remember: (drawn) =>
      catalog.rememberDrawnSchema(idOrg, drawn.idLschma, [
        ...new Set([fingerprint, fingerprintOf({ stored: drawn, isOfTarget: true }, [])]),
      ]),
  };

  async function schemaOf(idLschma: number): Promise<StoredLogicalSchema | null> {
    const { stored } = from.basis;
    return stored?.idLschma === idLschma ? stored : catalog.loadLogicalSchema(idOrg, { idLschma });
  }
}

function hashOf(value: unknown): string {
  return sha256Of(JSON.stringify(value));
}
