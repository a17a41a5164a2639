/** The context that the steps of a walk share: the plan, the open elements and their rows, and the facts about the document being read. */
import { createNameLabels, xmlNamespace, xsiNamespace, type NameLabels } from '../../model/name-labels.ts';
import { membersOf } from '../../model/packed/reader.ts';
import type { RelationalModel } from '../../model/relational-model.ts';
import type { NameTable } from '../../xml/tokens.ts';
import { compilePlan, type CompiledNode, type CompiledPlan } from '../compiled-plan.ts';
import { createDeviations, type Deviations } from '../deviations.ts';
import { FRAME_INTS, FRAME_NODE, ShredState } from '../open-elements.ts';
import { rowEncoderFor, type EncodingName, type RowEncoder, RowOutput } from '../row-output.ts';
import { RowKeys, OpenRows } from '../open-rows.ts';
import { NamespaceScope } from '../namespace-scope.ts';
import { ContentPrefixes } from './content-prefixes.ts';
import { DocumentPaths } from './document-paths.ts';

export interface WalkSettings {
  readonly model: RelationalModel;
  readonly names: NameTable;
  readonly encoding: EncodingName;
  /** last key in use per table name, `_documents` among them; rows are numbered from there */
  readonly keyOffsets: ReadonlyMap<string, number>;
  /** true: the sink can widen a column afterwards; false: a value that does not fit is written as it is */
  readonly widensInPlace: boolean;
  /** the target gives each decimal a scale: zeros at the end of one without are not kept there; default false */
  readonly scalesDecimals?: boolean;
  readonly unmapped: 'capture' | 'report' | 'fail';
  /** true: documents whose root is not one of the model's are kept whole as unmapped content; otherwise they are refused */
  readonly keepsOtherRoots?: boolean;
}

/** Name ids of the attributes that XSD Part 1 §2.6 allows on every element. */
export interface XsiNames {
  readonly type: number;
  readonly nil: number;
  readonly locations: ReadonlySet<number>;
}

export class WalkContext {
  readonly settings: WalkSettings;
  readonly names: NameTable;
  readonly encoder: RowEncoder;
  readonly plan: CompiledPlan;
  readonly state: ShredState;
  readonly output: RowOutput;
  readonly deviations: Deviations;
  readonly rowKeys = new RowKeys();
  readonly rows: OpenRows;
  readonly scope = new NamespaceScope();
  readonly labels: NameLabels;
  readonly paths: DocumentPaths;
  readonly prefixes: ContentPrefixes;
  readonly xsi: XsiNames;
  /** name id of xml:space */
  readonly xmlSpace: number;
  /** xml:space is `preserve` around the document, which is a part of a larger one */
  preservesSpace = false;
  documentName = '';
  /** values of the model's extra columns for the document, in column order */
  extra: readonly (string | null)[] = [];

  constructor(settings: WalkSettings) {
    const { model, names } = settings;
    this.settings = settings;
    this.names = names;
    this.encoder = rowEncoderFor(settings.encoding);
    this.plan = compilePlan(model, names, this.encoder, settings.scalesDecimals ?? false);
    this.state = new ShredState(
      Float64Array.from(membersOf(model.tables, 'name'), (name) => settings.keyOffsets.get(name) ?? 0),
    );
    this.output = new RowOutput(model.tables.length, settings.encoding);
    this.deviations = createDeviations(settings.unmapped);
    this.rows = new OpenRows(this.state, this.plan, this.output, settings.encoding, this.rowKeys);
    this.labels = createNameLabels(model);
    this.paths = new DocumentPaths(names, this.labels, this.state);
    this.prefixes = new ContentPrefixes(model, this.scope, this.state, this.paths);
    this.xmlSpace = names.intern(xmlNamespace, 'space');
    this.xsi = {
      type: names.intern(xsiNamespace, 'type'),
      nil: names.intern(xsiNamespace, 'nil'),
      locations: new Set([
        names.intern(xsiNamespace, 'schemaLocation'),
        names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
      ]),
    };
  }

  /** The plan node of an open element, by its depth from 0. */
  nodeOf(frame: number): CompiledNode {
    return this.plan.nodes[this.state.frames[frame * FRAME_INTS + FRAME_NODE]!]!;
  }

  /** The number of the document; 0 if its rows' keys follow from its content. */
  get documentNumber(): number {
    return this.rows.documentNumber;
  }

  set documentNumber(number: number) {
    this.rows.documentNumber = number;
  }

  /** The document's key as it is written. */
  documentKey(): number | string {
    return this.rowKeys.key(this.documentNumber);
  }
}
