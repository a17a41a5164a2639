/** Documents that are read for their faults alone. */
import { InputError } from '../../engine/diagnostics.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { Shredder } from '../../engine/shred/shredder.ts';
import type { NameTable } from '../../engine/xml/tokens.ts';
import type { InputSet } from '../inputs/list-files.ts';
import type { InputMember } from '../inputs/members.ts';
import { walkDocument } from '../inputs/read-document.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { createDocumentCut, documentName, type DocumentCut } from './document-cut.ts';
import type { Rejects } from './rejects.ts';

export class DocumentProbe {
  readonly #session: Pick<ToolSession, 'limits' | 'progress'>;
  readonly #rejects: Rejects;
  readonly #shredder: Shredder;
  readonly #names: NameTable;
  readonly #cut: DocumentCut;
  #bytes = 0;

  /** `shredder`: one of its own, whose rows go nowhere. */
  constructor(
    session: Pick<ToolSession, 'limits' | 'progress'>,
    rejects: Rejects,
    shredder: Shredder,
    rowTag: RowElementName | null,
    names: NameTable,
  ) {
    this.#session = session;
    this.#rejects = rejects;
    this.#shredder = shredder;
    this.#names = names;
    this.#cut = createDocumentCut(rowTag, names, {
      begin: (file, number, inherited) =>
        shredder.beginDocument(documentName(file, number), undefined, inherited),
      consume: (batch, locate) => shredder.consume(batch, locate),
      end: () => undefined,
    });
  }

  /** Adds the documents with faults to the rejects. */
  async run(inputs: Pick<InputSet, 'members'>): Promise<void> {
    let inputIndex = 0;
    for await (const member of inputs.members()) {
      if (!this.#rejects.has(inputIndex)) await this.#test(member, inputIndex);
      inputIndex += 1;
    }
  }

  async #test(member: InputMember, inputIndex: number): Promise<void> {
    const { output, unconvertedValues, nullAllowed } = this.#shredder;
    this.#cut.beginFile(member.name, member.range);
    try {
      await walkDocument(member, {
        names: this.#names,
        limits: this.#session.limits,
        kernels: this.#shredder.tokenizerKernels(),
        onBatch: (batch, locate) => this.#cut.consume(batch, locate),
        afterChunk: (size) => {
          this.#bytes += size;
          const done = { documents: inputIndex, bytes: this.#bytes, rows: null };
          this.#session.progress(0, { pass: 'checking', ...done });
          output.chunks.length = 0;
          unconvertedValues.length = 0;
          nullAllowed.length = 0;
        },
      });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      await this.#rejects.add(inputIndex, error);
    }
  }
}
