/** Requests to begin with, shown beside `POST /v2/run/cmd`: paths and ids are to be replaced. */

interface Recipe {
  readonly summary: string;
  readonly description: string;
  readonly value: { readonly name: string; readonly executions: readonly object[] };
}

const file = (path: string) => ({ command: path, enabled: true });
const option = (command: string, value?: string) => ({
  command,
  enabled: true,
  ...(value === undefined ? {} : { value }),
});

export const recipes: Readonly<Record<string, Recipe>> = {
  infer: {
    summary: 'Documents alone: tables are drawn from what occurs',
    description:
      'The schema is inferred in one pass and the rows are loaded in the next, into a SQL schema of the metadata database.',
    value: {
      name: 'orders',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file('uploads/7f3c/orders.zip') },
          target: { path: option('-o', 'metadb:orders') },
        },
      ],
    },
  },
  xsdFirst: {
    summary: 'An XSD set first, then its documents',
    description:
      '`$0` is the schema that execution 0 of the same request makes: the tables are those of the standard, whatever occurs.',
    value: {
      name: 'camt.053',
      executions: [
        {
          app_name: 'xsd2er',
          source: { file: file('uploads/7f3c/camt.053.xsd') },
          target: { generation: [option('-g', '3')] },
        },
        {
          app_name: 'xml2er',
          source: { file: file('uploads/9b1e/statements.tar.gz'), origin_id: option('-x', '$0') },
          target: { path: option('-o', 'metadb:statements') },
        },
      ],
    },
  },
  parquet: {
    summary: 'Parquet files for a warehouse',
    description:
      'A folder below the files of the organisation: a file for each table, a manifest, and scripts that load them.',
    value: {
      name: 'orders as Parquet',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file('uploads/7f3c/orders.zip'), origin_id: option('-x', '11') },
          target: { path: option('-o', 'out/orders'), format: [option('-f', 'parquet')] },
        },
      ],
    },
  },
  evolve: {
    summary: 'The next version of a standard',
    description:
      '`--parent` keeps the names of tables and columns, and the target that the earlier version made gets the columns that are new.',
    value: {
      name: 'orders, version 2',
      executions: [
        {
          app_name: 'xsd2er',
          source: { file: file('uploads/4d20/orders-2.zip') },
          target: { generation: [option('--parent', '11')] },
        },
        {
          app_name: 'xml2er',
          source: { file: file('uploads/9b1e/march.tar.gz'), origin_id: option('-x', '$0') },
          target: { path: option('-o', 'metadb:orders') },
        },
      ],
    },
  },
  spark: {
    summary: 'A large load on Spark',
    description:
      'Executors read and convert, one machine publishes. The operator has set `svc.spark.submit`; row elements of a large file are documents.',
    value: {
      name: 'a year of messages',
      executions: [
        {
          app_name: 'xml2er',
          source: { file: file('archive/2026/*.xml.gz'), origin_id: option('-x', '11') },
          target: {
            path: option('-o', 'metadb:messages'),
            generation: [
              option('--engine', 'spark'),
              option('--row-tag', 'message'),
              option('--keys', 'hash'),
              option('--spark-conf', 'spark.executor.memory=4g'),
            ],
          },
        },
      ],
    },
  },
};
