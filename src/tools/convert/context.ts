/** The state that the steps of a conversion share: the session, the documents, the plan, and the target once it is open. */
import type { RowSink, TargetLoad } from '../../ports/row-sink.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import { openSink } from '../targets/kinds.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { ConversionPlan } from './plan.ts';

export interface ConversionContext {
  readonly session: ToolSession;
  readonly inputs: InputSet;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
  readonly plan: ConversionPlan;
  readonly target: TargetOnDemand;
}

/** The sink, opened when a step first needs it. */
export class TargetOnDemand {
  readonly #session: ToolSession;
  #sink: RowSink | null = null;

  constructor(session: ToolSession) {
    this.#session = session;
  }

  async open(): Promise<RowSink> {
    this.#sink ??= await openSink(this.#session);
    return this.#sink;
  }

  /** The loads that the target records, newest first; empty if there are none. */
  async loads(): Promise<readonly TargetLoad[]> {
    return this.#session.request.out === undefined ? [] : (await this.open()).loads();
  }

  /** Closes the sink, so that the target is opened again. */
  async close(): Promise<void> {
    await this.#sink?.close();
    this.#sink = null;
  }
}
