/** The members of sinks of SQL databases that query the target. */
import type { CurrentDocument, UnmappedOfDocument, Published } from '../../ports/row-sink.ts';
import { StagedRowSink } from '../rows/staged-rows.ts';
import type { SqlReader } from './database.ts';
import { checkFoundTables, type FoundTable } from './found-tables.ts';
import {
  currentDocuments,
  filledTables,
  isPublished,
  loadedHashes,
  unmappedContent,
  type AskedTarget,
} from './ledger.ts';

export abstract class SqlRowSink<Database extends SqlReader> extends StagedRowSink {
  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    if (this.plan.saveMode === 'overwrite' || sha256s.length === 0) return found;
    const wanted = new Set(sha256s);
    await this.guarded(async () => {
      for await (const hashes of this.ask(loadedHashes))
        for (const sha256 of hashes) if (wanted.has(sha256)) found.add(sha256);
    });
    return found;
  }

  currentDocuments(): AsyncIterable<CurrentDocument> {
    return this.ask(currentDocuments);
  }

  unmappedContent(of: 'others' | 'all'): AsyncIterable<UnmappedOfDocument> {
    const loading = of === 'all' ? null : this.plan;
    return this.ask((target) => unmappedContent(target, loading));
  }

  /** Queries the target, which is open as long as the query takes. Yields nothing if there is no target yet. */
  protected abstract ask<T>(question: (target: AskedTarget<Database>) => AsyncIterable<T>): AsyncIterable<T>;

  /** Returns whether a table keeps its rows, so that its keys count. */
  protected keepsRows(_table: FoundTable): boolean {
    return this.plan.saveMode !== 'overwrite';
  }

  /** Throws AppError `conflict` if the job cannot add its rows to the tables that are there. */
  protected check({ driver, known, drawn }: AskedTarget<Database>): void {
    checkFoundTables(driver, this.label, known, drawn, (table) => this.keepsRows(table));
  }

  /** Checks the target, and returns what the job has to do there. */
  protected async findOutcome(target: AskedTarget<Database>): Promise<typeof this.outcome> {
    this.check(target);
    if (await isPublished(target)) return 'already';
    return (await this.mayLoad(() => filledTables(target))) ? 'load' : 'nothing';
  }
}

/** Returns the report on a job that had nothing left to do when it started to publish. */
export function nothingPublished(outcome: 'already' | 'nothing'): Published {
  const changes =
    outcome === 'already' ? [] : ['another job filled the tables during the run: nothing was added'];
  return { rows: {}, already: outcome === 'already', changes };
}
