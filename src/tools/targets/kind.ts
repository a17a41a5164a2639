/** The facts about a kind of target that the tools need. */
import type { DialectName } from '../../engine/sql/dialects/every-dialect.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { RowRemover, RowSink } from '../../ports/row-sink.ts';
import type { RowSource } from '../../ports/row-source.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** The code that writes and reads rows is loaded when a target is opened. */
export interface KindOfTarget<T extends Target = Target> {
  /** Whether `-f` chooses the format of the target. */
  readonly hasFormats: boolean;
  /** Whether earlier states of its tables can be read (`--version`), be it of some of its formats. */
  readonly hasVersions: boolean;
  /** The SQL of `-S p`: that of the database that makes the tables, or that reads the files best. `format`: of `-f`. */
  ddlDialect(format: ToolRequest['format'], target: T): DialectName;
  openSink(session: ToolSession, target: T): Promise<RowSink>;
  openSource(session: ToolSession, target: T): Promise<RowSource>;
  /** AppError `invalid_option` if documents cannot be removed, with advice on an alternative. */
  openRemover(session: ToolSession, target: T): Promise<RowRemover>;
  /** Rows of the table of docs/reference/targets.md. None: another kind has them. */
  readonly whatWasRun: readonly WhatWasRun[];
}

/** A row of the table of docs/reference/targets.md, “Tested versions”. */
export interface WhatWasRun {
  readonly target: string;
  readonly driver: string;
  /** mechanism that publishes the rows of a job */
  readonly transaction: string;
  /** versions of the tested software; for an untested target, the check made instead */
  readonly run_against: string;
}
