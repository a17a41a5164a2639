/** The text of `--help`, from the table of options. */
import { usageLines } from '../../jobs/options/table.ts';
import type { Tool } from '../../jobs/request/tools.ts';

const purposes: Readonly<Record<Tool, string>> = {
  xsd2er:
    'xsd2er INPUT… [options]: an XSD set, or the documents of --from, become an origin, its relational model and mapping',
  xml2er: 'xml2er INPUT… [options]: documents become statistics, a relational model, and rows in a target',
  er2xml: 'er2xml -l LOGICAL -i TARGET -o FOLDER: rows become documents again',
  unload: 'unload -l LOGICAL -i TARGET -D NAME: removes the rows of a document',
};

const examples: Readonly<Record<Tool, readonly string[]>> = {
  xsd2er: [
    'xsd2er order.xsd -g 1',
    'xsd2er schemas.zip --name orders',
    'xsd2er --from inbox.parquet --xml-column payload   of documents in a column',
  ],
  xml2er: [
    'xml2er order.xml                                   statistics and a model',
    "xml2er orders/ -x 4 -o metadb:orders -S o          rows into the service's own database",
    'xml2er orders.zip -x 4 -o postgresql://host/dwh?schema=orders -u loader -p secret',
    'xml2er order.xml -o out/ -f csv                    a folder of CSV files and load.sql',
  ],
  er2xml: ['er2xml -l 3 -i metadb:orders -o out/'],
  unload: ['unload -l 3 -i metadb:orders -D order.xml'],
};

const input =
  'INPUT is a file, a folder, a pattern (* ? […] **), an archive (.gz .zip .tar .tgz), s3://BUCKET/KEY, az://CONTAINER/KEY, https://… or - for stdin.';
const database =
  "TARGET is metadb:NAME (a SQL schema of the service's own database), postgresql://HOST/DATABASE?schema=NAME,\nmysql://HOST/DATABASE (MySQL, MariaDB)";
const catalogue =
  'or iceberg:https://HOST/PATH?warehouse=NAME&namespace=NAME, tables of an Iceberg REST catalogue (-p TOKEN, or -u CLIENT -p SECRET).';
const target = `${database},\nduckdb:FILE, sqlite:FILE, or a folder of files, of this machine or in a bucket (s3://BUCKET/PREFIX, az://CONTAINER/PREFIX),
${catalogue}`;
const placeholders: Readonly<Record<Tool, readonly string[]>> = {
  xsd2er: [input],
  xml2er: [input, target],
  er2xml: [target],
  unload: [
    `${database},\na folder of Delta or Iceberg tables, of this machine or in a bucket (s3://BUCKET/PREFIX, az://CONTAINER/PREFIX),\n${catalogue}`,
  ],
};

/** Returns the text of `--help`: purpose, the meaning of the words in capitals, every option of the tool with its default, examples. */
export function usageOf(tool: Tool): string {
  return [
    purposes[tool],
    '',
    ...placeholders[tool],
    '',
    ...usageLines(tool),
    '',
    'Examples:',
    ...examples[tool].map((example) => `  ${example}`),
    '',
    'Exit code: 0 completed, 1 failed, 2 wrong usage.',
  ].join('\n');
}
