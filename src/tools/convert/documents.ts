/** xml2er: documents become statistics, an origin with its model, and rows in a target. Rarely needed modules are imported lazily. */
import { InputError } from '../../engine/diagnostics.ts';
import { mergeStatistics } from '../../engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { rootsNamed } from '../../engine/map/chosen-roots.ts';
import { factsOf } from '../../engine/model/facts.ts';
import type { QName, SourceModel } from '../../engine/model/source-model.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { RootRule } from '../../engine/shred/unknown-root.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { AppError } from '../../errors.ts';
import { parseModeOf } from '../../jobs/request/tool-request.ts';
import { takesXsdDocuments } from '../../jobs/options/xsd-inputs.ts';
import type { OriginFile } from '../../ports/stores/catalog.ts';
import type { DocumentValidator } from '../../ports/processes/document-validator.ts';
import { noDetails, nothingKept, type Conversion } from '../reports/conversion-result.ts';
import { noDocumentsLeft } from '../load/document-cut.ts';
import { openDocuments } from '../inputs/document-inputs.ts';
import type { InputSet } from '../inputs/list-files.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import { findBasis, pinnedLogicalSchema } from '../schemas/choice.ts';
import { loadRows } from './load-rows.ts';
import {
  choicesAfterParent,
  chooseLogicalSchema,
  documentRoots,
  hasRoot,
  storeModel,
  type ChosenSchema,
} from '../schemas/logical-schema.ts';
import { ddlDialectOf, openSink } from '../session/open-sink.ts';
import { peekRootName } from '../inputs/read-document.ts';
import type { Rejects } from '../load/rejects.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { elementName, elementOf } from '../schemas/model-choices.ts';

export async function convertXml(session: ToolSession): Promise<Conversion> {
  if (session.request.engine === 'spark')
    (await import('../load/spark/load-on-spark.ts')).requireSpark(session);
  const { idOrg, home, request } = session;
  const takesXsd = (await takesXsdDocuments(home.adapters.catalog, idOrg, request)) === true;
  const inputs = await openDocuments(session, takesXsd);
  try {
    return await new XmlConversion(session, inputs, takesXsd).run();
  } catch (error) {
    if (error instanceof InputError) throw await session.rejects.fatal(error);
    throw error;
  } finally {
    await inputs.dispose();
  }
}

class XmlConversion {
  readonly #session: ToolSession;
  readonly #inputs: InputSet;
  readonly #takesXsd: boolean;
  readonly #rejects: Rejects;
  readonly #steps: [string, number][] = [];
  #since = performance.now();
  #bytes = 0;
  #documents = 0;
  /** `--row-tag`, as far as it is known without a schema */
  #rowTag: RowElementName | null;

  /** what documents may start with, as far as it is known without a schema */
  #roots: RootRule;

  constructor(session: ToolSession, inputs: InputSet, takesXsd: boolean) {
    this.#session = session;
    this.#inputs = inputs;
    this.#takesXsd = takesXsd;
    this.#rejects = session.rejects;
    const { rowTag, root, keepsOtherRoots } = session.request;
    this.#rowTag = rowTag === undefined ? null : elementName(rowTag, {});
    const known = root === undefined ? null : [elementName(root, {})];
    this.#roots = { known, keepsOthers: keepsOtherRoots && root === undefined };
  }

  async run(): Promise<Conversion> {
    const { request, repeats } = this.#session;
    // a repeated load of documents that made a schema loads by that one; what read them only reads them again
    const hasSchema =
      request.originId !== undefined ||
      request.logicalId !== undefined ||
      (repeats !== null && request.out !== undefined && !request.dryRun && parseModeOf(request) !== 's');
    try {
      return await (hasSchema ? this.#withSchema() : this.#withoutSchema());
    } finally {
      await this.#sink?.close();
    }
  }

  /** No schema given: the documents themselves, read once before, make it. */
  async #withoutSchema(): Promise<Conversion> {
    const session = this.#session;
    const { request, home, idOrg } = session;
    if (request.validate)
      throw (await import('../validation/open-validator.ts')).noXsdSet('no origin is named');
    const earlier = await this.#earlierOrigin();
    await this.#checkBeforeCollecting(null);
    const statistics = await this.#collect(request.out === undefined ? 1 : 0.4);
    const all = (await this.#storedStatistics(null)).reduce(mergeStatistics, statistics);
    const { inferSourceModel } = await import('../../engine/infer/source-model.ts');
    const source = earlier?.source ?? inferSourceModel(all);
    this.#step('infer');
    const { buildModel } = await import('../schemas/build-model.ts');
    const model = buildModel(request, source, await choicesAfterParent(session));
    this.#step('map');
    session.log(
      `model at level ${model.mapLevel}: ${model.tables.length} tables, ${model.mappings.length} mappings`,
    );
    const why = 'made of the documents themselves';
    if (request.dryRun) {
      const stored = { idSch: -1, idLschma: -1, model, modelHash: '', variant: false };
      return this.#conversion(null, { stored, why });
    }
    const { storeOrigin } = await import('../schemas/store-origin.ts');
    const origin = earlier?.record ?? (await storeOrigin(session, source, 'xml', this.#files));
    // a further attempt goes on with this origin
    await session.report({ idSch: origin.id_sch });
    await session.reported();
    await home.adapters.catalog.saveStatistics(idOrg, origin.id_sch, session.idJob, statistics, () => all);
    const logical = await storeModel(session, origin.id_sch, model);
    await session.report({ idLschma: logical.idLschma });
    this.#step('store');
    return this.#load({ stored: logical, why }, false);
  }

  /** `-a`: what earlier jobs met; those of the origin itself are among its own. */
  async #storedStatistics(idSch: number | null): Promise<readonly DocumentStatistics[]> {
    const { request, home, idOrg } = this.#session;
    const { catalog } = home.adapters;
    if (request.useStats === undefined) return [];
    const found = await catalog.loadStatistics(idOrg, request.useStats);
    const isOwn = await Promise.all(
      request.useStats.map(
        async (idJob) => idSch !== null && (await catalog.loadJobStatistics(idOrg, idSch, idJob)) !== null,
      ),
    );
    return found.filter((_, at) => !isOwn[at]) as DocumentStatistics[];
  }

  async #earlierOrigin() {
    const { originOfEarlierAttempt, home, idOrg, idJob } = this.#session;
    if (originOfEarlierAttempt === null) return null;
    const origin = await home.adapters.catalog.loadOrigin(idOrg, originOfEarlierAttempt);
    return origin?.record.id_job === idJob ? { record: origin.record, source: origin.model } : null;
  }

  async #withSchema(): Promise<Conversion> {
    const session = this.#session;
    const { request, home, idOrg } = session;
    const { catalog } = home.adapters;
    const mode = parseModeOf(request);
    const pinned = await pinnedLogicalSchema(session);
    let idSch: number;
    if (pinned !== null) idSch = pinned.stored.idSch;
    else if (request.originId !== undefined && 'id' in request.originId) idSch = request.originId.id;
    else throw new AppError('invalid_option', '-x $N: stands for a schema of the same request only');
    const origin = await catalog.loadOrigin(idOrg, idSch);
    if (origin === null) throw new AppError('not_found', `-x ${idSch}: there is no such origin`);
    await session.report({ idSch });
    if (request.rowTag !== undefined) this.#rowTag = elementOf('--row-tag', request.rowTag, origin.model);
    const known = pinned?.stored.model.roots.map(({ name }) => name);
    this.#roots = { ...this.#roots, known: known ?? documentRoots(request, origin.model) };
    const stored = origin.statistics as DocumentStatistics | null;
    const ofJobs = await this.#storedStatistics(idSch);
    const earlier = [...(stored === null ? [] : [stored]), ...ofJobs];
    const saveStatistics = (statistics: DocumentStatistics): Promise<void> =>
      catalog.saveStatistics(idOrg, idSch, session.idJob, statistics, (saved) =>
        [...(saved as DocumentStatistics[]), ...ofJobs, statistics].reduce(mergeStatistics),
      );
    const onlyStatistics = mode === 's' || request.dryRun || request.out === undefined;
    const prunes = request.prune && pinned === null;
    // what is never used can only be told once all has been read
    if (onlyStatistics || prunes) await this.#checkBeforeCollecting(idSch);
    const collected = onlyStatistics || prunes ? await this.#collect(onlyStatistics ? 1 : 0.4) : null;
    if (collected !== null) this.#step('statistics');
    const source =
      prunes && collected !== null
        ? (await import('../../engine/map/prune.ts')).pruneSourceModel(
            origin.model,
            earlier.reduce(mergeStatistics, collected),
          )
        : origin.model;
    const chosen = pinned ?? (await this.#choose(idSch, source, onlyStatistics));
    const { idLschma } = chosen.stored;
    session.log(`logical schema ${idLschma} of schema ${idSch}: ${chosen.why}`);
    await session.report({ idLschma });
    this.#step('schema');
    if (collected !== null && mode !== 'd' && !request.dryRun) await saveStatistics(collected);
    if (onlyStatistics) return this.#conversion(idSch, chosen);
    return this.#load(chosen, mode === 'a' && collected === null, saveStatistics);
  }

  /** A target that exists decides; where rows are to go nowhere, the default of the origin counts. */
  async #choose(idSch: number, source: SourceModel, onlyStatistics: boolean): Promise<ChosenSchema> {
    const session = this.#session;
    const reachesTarget = !onlyStatistics && session.request.saveMode !== 'p';
    const loads = reachesTarget ? await (await this.#openSink()).loads() : [];
    const basis = await findBasis(session, idSch, loads);
    const roots = await this.#documentRoots(source, basis.stored?.model);
    return chooseLogicalSchema(session, idSch, source, basis, roots);
  }

  #sink: RowSink | null = null;

  async #openSink(): Promise<RowSink> {
    this.#sink ??= await openSink(this.#session);
    return this.#sink;
  }

  /** What is to be skipped must not count, so it is looked for in a pass of its own. */
  async #checkBeforeCollecting(idSch: number | null): Promise<void> {
    const { onError, validate, engine } = this.#session.request;
    if (onError === 'skip' && !validate) {
      // executors find it with the statistics
      if (engine !== 'spark') await this.#check(null);
    } else if (idSch !== null) await this.#validate(idSch);
  }

  async #check(validator: DocumentValidator | null): Promise<void> {
    const { checkDocuments } = await import('../validation/check-documents.ts');
    const documents = { inputs: this.#inputs, rowTag: this.#rowTag, roots: this.#roots };
    await checkDocuments(this.#session, documents, validator);
  }

  #validated = false;

  /** `--validate`, once: a document that is not valid is rejected before any is read for its rows. */
  async #validate(idSch: number): Promise<void> {
    if (!this.#session.request.validate || this.#validated) return;
    this.#validated = true;
    const { openValidator } = await import('../validation/open-validator.ts');
    const validator = await openValidator(this.#session, idSch);
    try {
      this.#session.log(`checking the documents with ${validator.program}`);
      await this.#check(validator);
    } finally {
      await validator.close();
    }
    this.#step('validate');
  }

  /** Root elements of the documents, when the stored model does not start with all that the source model allows. */
  async #documentRoots(source: SourceModel, stored: RelationalModel | undefined): Promise<readonly QName[]> {
    const { request, limits } = this.#session;
    if (request.rowTag !== undefined) return [elementOf('--row-tag', request.rowTag, source)];
    // one that --row-tag or --root made may start with other elements
    if (source.roots.every((root) => hasRoot(stored, source.elements[root]!.name))) return [];
    const names = createNameTable();
    const found = new Map<number, QName>();
    for await (const member of this.#inputs.members()) {
      const id = await peekRootName(member, names, limits).catch((error: unknown) => {
        // it is skipped later, with its reason
        if (error instanceof InputError && request.onError === 'skip') return null;
        throw error;
      });
      if (id === null || found.has(id)) continue;
      const name = { namespaceUri: names.namespaceUri(id), localName: names.localName(id) };
      if (rootsNamed(source, [name]).length > 0 && !hasRoot(stored, name)) found.set(id, name);
    }
    return [...found.values()];
  }

  /** Statistics of all documents, in one pass. */
  async #collect(shareOfProgress: number): Promise<DocumentStatistics> {
    const session = this.#session;
    const { request } = session;
    const collect =
      request.engine === 'spark'
        ? (await import('../load/spark/collect-on-spark.ts')).collectOnSpark
        : (await import('../load/collect-statistics.ts')).collectHere;
    const collected = await collect(session, {
      inputs: this.#inputs,
      rowTag: this.#rowTag,
      roots: this.#roots,
      takesXsd: this.#takesXsd,
      rejects: this.#rejects,
      progress: (fraction, done) => session.progress(fraction * shareOfProgress, done),
    });
    this.#bytes += collected.bytes;
    this.#files = collected.files;
    this.#documents = collected.documents;
    if (this.#documents === 0) throw noDocumentsLeft(this.#rejects, request.rowTag);
    this.#step('read for statistics');
    return collected.statistics;
  }

  /** documents an origin was inferred from */
  #files: readonly OriginFile[] = [];

  async #load(
    chosen: ChosenSchema,
    withStatistics: boolean,
    saveStatistics?: (statistics: DocumentStatistics) => Promise<void>,
  ): Promise<Conversion> {
    const session = this.#session;
    const { request } = session;
    const { stored: logical, why } = chosen;
    if (request.out === undefined || parseModeOf(request) === 's')
      return this.#conversion(logical.idSch, chosen);
    if (request.saveMode === 'p') {
      const { renderDdl } = await import('../../engine/sql/ddl.ts');
      const dialect = ddlDialectOf(request);
      for (const line of renderDdl(logical.model, { dialect }).split('\n')) session.log(line);
      return this.#conversion(logical.idSch, chosen);
    }
    const sink = await this.#openSink();
    await session.report({ outputPath: sink.label });
    try {
      session.log(`loading into ${sink.label}`);
      const result = await loadRows(session, this.#inputs, logical, sink, {
        withStatistics,
        rowTag: this.#rowTag,
        takesXsd: this.#takesXsd,
        rejects: this.#rejects,
        check: () => this.#validate(logical.idSch),
        chosen: { logical: logical.idLschma, why },
      });
      if (result.statistics !== null && saveStatistics !== undefined) await saveStatistics(result.statistics);
      for (const [name, seconds] of result.steps) this.#steps.push([name, seconds]);
      await session.report({ messages: result.documents, progress: 1 });
      return {
        ...this.#conversion(logical.idSch, chosen),
        documents: result.documents,
        rows: result.rows,
        unknown: result.unknownPaths,
        bytes: result.bytes,
        details: result.details,
        kept: result.kept,
        does: 'loaded',
      };
    } catch (error) {
      await sink.abort();
      throw error;
    }
  }

  #conversion(idSch: number | null, { stored: logical, why }: ChosenSchema): Conversion {
    const idLschma = logical.idLschma < 0 ? null : logical.idLschma;
    return {
      origin: idSch,
      does: 'read',
      logical: idLschma,
      chosen: { logical: idLschma, why },
      documents: this.#documents,
      rejected: this.#rejects.messages.length - this.#rejects.unknownRoots,
      unknownRoots: this.#rejects.unknownRoots,
      kept: nothingKept,
      rows: {},
      mapped: factsOf(logical.model).mappedPaths,
      unknown: 0,
      bytes: this.#bytes,
      details: { ...noDetails, rejects: this.#rejects.details },
      steps: this.#steps,
    };
  }

  #step(name: string): void {
    this.#steps.push([name, (performance.now() - this.#since) / 1000]);
    this.#since = performance.now();
  }
}
