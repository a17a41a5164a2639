/**
 * Collects statistics with the kernel in WebAssembly until its memory is full. The result is the same as that of
 * src/engine/infer/plain-collector.ts.
 */
import type { TokenizerKernels } from '../xml/tokenizer/fast.ts';
import type { NameTable, TokenBatch } from '../xml/tokens.ts';
import { elementStatistics } from './path-tree.ts';
import { PlainCollector, isTrue, noteNamespace, notContentOf } from './plain-collector.ts';
import { noDeclaredPlaces, type DeclaredPlaces } from './declared-places.ts';
import { emptyStatistics, type DocumentStatistics } from './statistics.ts';
import { createCollectKernel, type CollectKernel } from './kernel/instance.ts';

export interface KernelCollectorOptions {
  readonly samples: boolean;
  readonly places?: DeclaredPlaces;
  readonly kernelPages?: number;
}

export class KernelCollector {
  readonly tokenizerKernels: TokenizerKernels;
  readonly #names: NameTable;
  readonly #samples: boolean;
  readonly #places: DeclaredPlaces;
  readonly #kernel: CollectKernel;
  readonly #namespaces: Record<string, string>;
  #documents = 0;
  #bytes = 0;
  /** continues after the kernel has run out of room */
  #successor: PlainCollector | null = null;

  private constructor(
    names: NameTable,
    samples: boolean,
    places: DeclaredPlaces,
    kernel: CollectKernel,
    namespaces: Record<string, string>,
  ) {
    this.#names = names;
    this.#samples = samples;
    this.#places = places;
    this.#kernel = kernel;
    this.#namespaces = namespaces;
    this.tokenizerKernels = kernel.tokenizerKernels;
  }

  /** Returns null if WebAssembly is not available. */
  static create(
    names: NameTable,
    { samples, places = noDeclaredPlaces, kernelPages }: KernelCollectorOptions,
  ): KernelCollector | null {
    const notContent = notContentOf(names);
    const namespaces: Record<string, string> = {};
    const kernel = createCollectKernel({
      samples,
      ...(kernelPages === undefined ? {} : { pages: kernelPages }),
      isContent: (nameId) => !notContent.all.has(nameId),
      isNil: (nameId, batch, record) => nameId === notContent.nil && isTrue(batch, record),
      places,
      onNamespace: (batch, record) => noteNamespace(namespaces, batch, record, names),
    });
    return kernel === null ? null : new KernelCollector(names, samples, places, kernel, namespaces);
  }

  get statistics(): DocumentStatistics {
    if (this.#successor !== null) {
      const { statistics } = this.#successor;
      return { ...statistics, bytes: statistics.bytes + this.#bytes };
    }
    const { nodes, roots } = this.#kernel.thaw();
    return {
      ...emptyStatistics(),
      documents: this.#documents,
      bytes: this.#bytes,
      namespaces: { ...this.#namespaces },
      elements: nodes.map((node) => elementStatistics(node, this.#names)),
      roots: Array.from(roots.values(), ({ index }) => index),
    };
  }

  beginDocument(): void {
    if (this.#successor !== null) return this.#successor.beginDocument();
    this.#documents += 1;
    this.#kernel.beginDocument(this.#documents);
  }

  consume(batch: TokenBatch): void {
    if (this.#successor !== null) return this.#successor.consume(batch);
    const handled = this.#kernel.consume(batch);
    if (handled === batch.count) return;
    this.#successor = new PlainCollector(this.#names, this.#samples, this.#places, {
      ...this.#kernel.thaw(),
      documents: this.#documents,
      namespaces: this.#namespaces,
    });
    this.#successor.consume(batch, handled);
  }

  endDocument(bytes: number): void {
    if (this.#successor !== null) return this.#successor.endDocument(bytes);
    this.#bytes += bytes;
  }
}
