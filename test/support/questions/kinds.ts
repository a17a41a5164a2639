/** What an analyst asks of documents: a question, and what its answer is in the documents themselves, told by XPath. */

/** The value of a column: an XPath from the row, or what another element of the document says that the row refers to. */
export type Value =
  | string
  | {
      /** from the row: what it refers by */
      readonly key: string;
      /** from the document: elements that may be meant */
      readonly among: string;
      /** from each of them: what it is referred to by */
      readonly by: string;
      /** from the one that is meant */
      readonly take: string;
    };

export interface Question {
  readonly text: string;
  /** XPath of the elements that the answer has a row for */
  readonly rows: string;
  /** columns of the answer, in the order in which a query gives them */
  readonly columns: Readonly<Record<string, Value>>;
}

export interface Standard {
  /** as SQL schemas are called */
  readonly name: string;
  readonly title: string;
  /** paths in the corpus */
  readonly xsd: string;
  readonly documents: readonly string[];
  /** prefixes that the XPaths use */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly questions: readonly Question[];
}
