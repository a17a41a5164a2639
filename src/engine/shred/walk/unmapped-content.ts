/** Handles content that has no column: counts it as a deviation and keeps it beside the data (docs/decisions/loading/nothing-lost.md). */
import { pathSteps } from '../../model/name-labels.ts';
import type { KeptBeside } from '../../model/relational-model.ts';
import { sideTableNames } from '../../model/side-tables.ts';
import { RECORD_INTS, type TextLocation, type TokenBatch } from '../../xml/tokens.ts';
import type { CompiledNode } from '../compiled-plan.ts';
import { FRAME_NAME, FRAME_ORDINAL, FRAME_ROW, FRAME_SHOWN } from '../open-elements.ts';
import { rangeText } from '../xml-capture.ts';
import type { WalkContext } from './context.ts';

const utf8 = new TextEncoder();

export class UnmappedContent {
  readonly #context: WalkContext;

  constructor(context: WalkContext) {
    this.#context = context;
  }

  /** `values`: how many values content that is left out on purpose counts for. */
  add(
    kind: 'element' | 'attribute' | 'text',
    position: number,
    xpath: string,
    content: Uint8Array,
    row: number,
    values = 1,
  ): void {
    const { deviations } = this.#context;
    if (this.#isLeftOut(kind, xpath)) {
      deviations.ignore(xpath, values);
      return;
    }
    if (this.#isKeptBeside(kind, xpath)) {
      this.#add(kind, position, xpath, content, row);
      return;
    }
    deviations.unmapped(xpath, kind, content, this.#context.documentName);
    this.keep(kind, position, xpath, content, row);
  }

  /** The attribute at `at`, of the innermost open element. */
  addAttribute(batch: TokenBatch, at: number, row: number): void {
    const xpath = this.#context.paths.attribute(batch.events[at * RECORD_INTS + 1]!);
    this.add('attribute', 0, xpath, utf8.encode(rangeText(batch, at)), row);
  }

  /** Adds a row to `_unmapped`, if deviations are kept. */
  keep(
    kind: 'element' | 'attribute' | 'text' | 'place',
    position: number,
    xpath: string,
    content: string | Uint8Array | null,
    row: number,
  ): void {
    if (this.#context.settings.unmapped === 'capture') this.#add(kind, position, xpath, content, row);
  }

  #add(
    kind: 'element' | 'attribute' | 'text' | 'place',
    position: number,
    xpath: string,
    content: string | Uint8Array | null,
    row: number,
  ): void {
    const context = this.#context;
    const { name } = context.rows.table(row);
    const values = [context.documentKey(), name, context.rows.key(row), position, xpath, kind, content];
    context.output.side('unmapped', values);
  }

  /** Keeps the position of a folded element, if neither its columns nor its order will show it. */
  keepPosition(frame: number): void {
    const { state, paths, settings } = this.#context;
    if (settings.unmapped !== 'capture') return;
    const ordinal = state.frame(frame, FRAME_ORDINAL);
    this.keep('place', ordinal, paths.element(frame), null, state.frame(frame, FRAME_ROW));
    state.setFrame(frame, FRAME_SHOWN, 1);
  }

  /** A document that is kept whole: it hangs from the document itself, as there is no row it could hang from. */
  keepRoot(content: Uint8Array, location: TextLocation): void {
    const { deviations, output, paths, state, documentName } = this.#context;
    const xpath = `/${paths.label(state.frame(0, FRAME_NAME))}`;
    const where = `${documentName}: line ${location.line}, column ${location.column}`;
    deviations.unmapped(xpath, 'element', content, where);
    deviations.documents += 1;
    const document = this.#context.documentKey();
    const values = [document, sideTableNames.documents, document, 1, xpath, 'element', content];
    output.side('unmapped', values);
  }

  /** True if the plan intentionally leaves out the child or attribute of that name. */
  isIgnored(node: CompiledNode, kind: 'elements' | 'attributes', nameId: number): boolean {
    const names = node.plan.ignored?.[kind] ?? [];
    return names.some((name) => this.#context.names.intern(name.namespaceUri, name.localName) === nameId);
  }

  /** The same for content of the innermost open element that found no place; its path ends with its name. */
  #isLeftOut(kind: 'element' | 'attribute' | 'text', xpath: string): boolean {
    const { state } = this.#context;
    const ignored = state.depth === 0 ? undefined : this.#context.nodeOf(state.depth - 1).plan.ignored;
    if (ignored === undefined) return false;
    if (kind === 'text') return ignored.text;
    if (kind === 'element' ? ignored.anyElement : ignored.anyAttribute) return true;
    return this.#isOneOf(ignored, kind, xpath);
  }

  /** True if the schema declares the content for the innermost open element, whose row has no column for it. */
  #isKeptBeside(kind: 'element' | 'attribute' | 'text', xpath: string): boolean {
    const { state, settings } = this.#context;
    const at = state.depth === 0 ? undefined : this.#context.nodeOf(state.depth - 1).plan.keptBeside;
    return at !== undefined && kind !== 'text' && this.#isOneOf(settings.model.keptBeside![at]!, kind, xpath);
  }

  #isOneOf({ elements, attributes }: KeptBeside, kind: 'element' | 'attribute', xpath: string): boolean {
    const { labels } = this.#context;
    const step = pathSteps(xpath).at(-1);
    return kind === 'element'
      ? elements.some((name) => step === labels.element(name))
      : attributes.some((name) => step === `@${labels.attribute(name)}`);
  }
}
