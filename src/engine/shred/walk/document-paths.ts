/** Readable names and paths of the open elements and attributes. */
import type { NameLabels } from '../../model/name-labels.ts';
import type { QName } from '../../model/source-model.ts';
import type { NameTable } from '../../xml/tokens.ts';
import { FRAME_NAME, type ShredState } from '../open-elements.ts';

export class DocumentPaths {
  readonly #names: NameTable;
  readonly #labels: NameLabels;
  readonly #state: ShredState;
  /** indexed by name id */
  readonly #elementLabels: string[] = [];

  constructor(names: NameTable, labels: NameLabels, state: ShredState) {
    this.#names = names;
    this.#labels = labels;
    this.#state = state;
  }

  nameOf(nameId: number): QName {
    return { namespaceUri: this.#names.namespaceUri(nameId), localName: this.#names.localName(nameId) };
  }

  /** The label of an element's name. */
  label(nameId: number): string {
    return (this.#elementLabels[nameId] ??= this.#labels.element(this.nameOf(nameId)));
  }

  /** The path of an open element, by its depth from 0. */
  element(frame: number): string {
    let path = '';
    for (let i = 0; i <= frame; i += 1) path += `/${this.label(this.#state.frame(i, FRAME_NAME))}`;
    return path;
  }

  /** The path of an attribute of the innermost open element. */
  attribute(nameId: number): string {
    return `${this.element(this.#state.depth - 1)}/@${this.#labels.attribute(this.nameOf(nameId))}`;
  }
}
