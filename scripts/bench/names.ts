/** Our own contestants, as they are called in the tables. */
export const contestants = {
  tokenise: 'tokenise (ours)',
  plain: 'tokenise, without WebAssembly (ours)',
  copyBytes: 'XML to COPY bytes (ours)',
  plainCopyBytes: 'XML to COPY bytes, without the kernel for rows (ours)',
  statistics: 'statistics of a document (ours)',
  plainStatistics: 'statistics, without their kernel (ours)',
  load: 'XML to PostgreSQL (ours)',
  indexed: 'XML to PostgreSQL, indexes on keys (ours)',
  infer: 'infer, then XML to PostgreSQL (ours)',
  copyAlone: 'COPY alone, one connection',
  copyAtOnce: 'COPY alone, a connection for each table',
  onePage: 'one page, start to exit (ours)',
  netex: 'compile NeTEx (ours)',
  fpml: 'compile FpML (ours)',
} as const;
