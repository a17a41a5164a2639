/** Collects statistics of documents in one pass. Memory grows with distinct paths, not with size. */
import {
  createKernelThreshold,
  createTokenizerKernels,
  type TokenizerKernels,
} from '../xml/tokenizer/fast.ts';
import type { NameTable, TokenBatch } from '../xml/tokens.ts';
import { KernelCollector } from './kernel-collector.ts';
import { mergeStatistics } from './merge-statistics.ts';
import { PlainCollector } from './plain-collector.ts';
import { noDeclaredPlaces, type DeclaredPlaces } from './declared-places.ts';
import { ElementsByType } from './elements-by-type.ts';
import type { DocumentStatistics } from './statistics.ts';

export interface StatisticsCollector {
  /** statistics of all documents so far */
  readonly statistics: DocumentStatistics;
  /** Kernels for the tokeniser whose batches are passed in, if there is a choice. Their output need not be copied. */
  tokenizerKernels(): TokenizerKernels;
  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  beginDocument(inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch): void;
  endDocument(bytes: number): void;
}

export interface StatisticsCollectorOptions {
  /** false: no value of any document is kept (`--no-samples`) */
  readonly samples: boolean;
  /** elements of one name are counted separately if the places have different types; default: only names decide */
  readonly places?: DeclaredPlaces;
  /**
   * The number of records in the documents' first batches together from which on WebAssembly counts the common cases (default 1024:
   * creating the kernel costs more than it saves below that). Infinity: only TypeScript is used. The statistics are the same.
   */
  readonly kernelFrom?: number;
  /** pages of the kernel's memory; when they are full, TypeScript continues */
  readonly kernelPages?: number;
}

const usualKernelFrom = 1024;

export function createStatisticsCollector(
  names: NameTable,
  options: StatisticsCollectorOptions,
): StatisticsCollector {
  const { types } = options.places ?? noDeclaredPlaces;
  const byName = new Collector(names, options);
  return types.size === 0 ? byName : new CollectorByType(names, types, byName, new Collector(names, options));
}

/** Counts documents twice: elements by their names, and by their names and the types that xsi:type gives them. */
class CollectorByType implements StatisticsCollector {
  readonly #elements: ElementsByType;
  readonly #byName: Collector;
  readonly #byType: Collector;

  constructor(names: NameTable, types: ReadonlySet<string>, byName: Collector, byType: Collector) {
    this.#elements = new ElementsByType(names, types);
    this.#byName = byName;
    this.#byType = byType;
  }

  get statistics(): DocumentStatistics {
    const { statistics } = this.#byName;
    return this.#elements.hasRenamed ? { ...statistics, byType: this.#byType.statistics } : statistics;
  }

  tokenizerKernels(): TokenizerKernels {
    return this.#byName.tokenizerKernels();
  }

  beginDocument(inherited?: ReadonlyMap<string, string>): void {
    this.#elements.beginDocument(inherited);
    this.#byName.beginDocument();
    this.#byType.beginDocument();
  }

  consume(batch: TokenBatch): void {
    this.#byName.consume(batch);
    this.#byType.consume(this.#elements.rename(batch));
  }

  endDocument(bytes: number): void {
    this.#byName.endDocument(bytes);
    this.#byType.endDocument(bytes);
  }
}

/** Documents are counted by TypeScript, until they are worth a kernel: from then on it counts all. */
class Collector implements StatisticsCollector {
  readonly #names: NameTable;
  readonly #options: StatisticsCollectorOptions;
  readonly #first: PlainCollector;
  #second: KernelCollector | null = null;
  #kernelFrom: number;
  /** records of documents that TypeScript has counted */
  #records = 0;
  readonly #kernelPays = createKernelThreshold();
  readonly #otherKernels = createTokenizerKernels();
  /** a document has begun but has no records yet */
  #begins = false;
  /** one is being counted, and has to be by who began with it */
  #isOpen = false;

  constructor(names: NameTable, options: StatisticsCollectorOptions) {
    this.#names = names;
    this.#first = new PlainCollector(names, options.samples, options.places);
    this.#options = options;
    this.#kernelFrom = options.kernelFrom ?? usualKernelFrom;
  }

  get statistics(): DocumentStatistics {
    if (this.#second === null) return this.#first.statistics;
    const later = this.#second.statistics;
    return this.#first.documents === 0 ? later : mergeStatistics(this.#first.statistics, later);
  }

  tokenizerKernels(): TokenizerKernels {
    return {
      take: (firstBytes) => {
        if (!this.#kernelPays(firstBytes)) return null;
        this.#makeKernel();
        return (this.#second?.tokenizerKernels ?? this.#otherKernels).take(firstBytes);
      },
      giveBack: (kernel) => (this.#second?.tokenizerKernels ?? this.#otherKernels).giveBack(kernel),
    };
  }

  beginDocument(): void {
    this.#begins = true;
  }

  consume(batch: TokenBatch): void {
    if (this.#begins) {
      this.#records += batch.count;
      if (this.#records >= this.#kernelFrom) this.#makeKernel();
      this.#begin();
    }
    this.#serving.consume(batch);
  }

  endDocument(bytes: number): void {
    if (this.#begins) this.#begin();
    this.#serving.endDocument(bytes);
    this.#isOpen = false;
  }

  get #serving(): PlainCollector | KernelCollector {
    return this.#second ?? this.#first;
  }

  #begin(): void {
    this.#begins = false;
    this.#isOpen = true;
    this.#serving.beginDocument();
  }

  #makeKernel(): void {
    if (this.#second !== null || this.#kernelFrom === Infinity) return;
    if (this.#isOpen && !this.#begins) return;
    this.#kernelFrom = Infinity;
    this.#second = KernelCollector.create(this.#names, this.#options);
  }
}
