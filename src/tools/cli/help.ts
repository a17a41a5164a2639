/** The text of `--help`: the options that most loads need, in groups. `--help all` has every option. */
import type { Tool } from '../../service/jobs/request/tools.ts';
import { optionGroups, toolOptions, type OptionSpec } from '../../service/jobs/option-table.ts';

/** the longest line */
const width = 120;
/** the column at which the meanings of options begin */
const indent = 33;

/** Options of the short help. */
const everyday: ReadonlySet<string> = new Set([
  '--row-tag',
  '--xsd',
  '--name',
  '--origin',
  '--logical',
  '--map',
  '--prune',
  '--in',
  '--document',
  '--out',
  '--format',
  '--out-user',
  '--out-password',
  '--savemode',
  '--key',
  '--validate',
  '--on-error',
  '--on-drift',
  '--skip',
  '--json',
]);

const purposes: Readonly<Record<Tool, string>> = {
  xsd2er:
    'xsd2er INPUT… [options]: an XSD set, or the documents of --from, become an origin, its relational model and mapping',
  xml2er: 'xml2er INPUT… [options]: documents become statistics, a relational model, and rows in a target',
  er2xml: 'er2xml -l LOGICAL -i TARGET -o FOLDER: rows become documents again',
  unload: 'unload -l LOGICAL -i TARGET -D NAME: removes the rows of a document',
};

const examples: Readonly<Record<Tool, readonly (readonly [command: string, meaning: string])[]>> = {
  xsd2er: [
    ['xsd2er order.xsd -g 1', 'a model of an XSD file, with few tables'],
    ['xsd2er schemas.zip --name orders', 'a model of an XSD set'],
    ['xsd2er --from inbox.parquet --xml-column payload', 'a model of the documents in a column'],
  ],
  xml2er: [
    ['xml2er order.xml', 'statistics and a model'],
    ['xml2er order.xml -o out/ -f csv', 'a folder of CSV files and load.sql'],
    ['xml2er orders/ --xsd schemas.zip -o duckdb:orders.duckdb', 'a DuckDB file'],
    ['xml2er orders/ -x 4 -o metadb:orders -S o', "rows into the service's own database"],
    ['xml2er orders.zip -o postgresql://host/dwh?schema=orders -u loader -p secret', 'PostgreSQL'],
  ],
  er2xml: [['er2xml -l 3 -i metadb:orders -o out/', 'all documents']],
  unload: [['unload -l 3 -i metadb:orders -D order.xml', 'one document']],
};

const input = `INPUT is a file, a folder, a pattern (* ? […] **), an archive (.gz .zip .tar .tgz), s3://BUCKET/KEY,
az://CONTAINER/KEY, https://… or - for stdin.`;
const database = `TARGET is metadb:NAME (a SQL schema of the service's own database), postgresql://HOST/DATABASE?schema=NAME,
mysql://HOST/DATABASE (MySQL, MariaDB),`;
const catalogue = `or iceberg:https://HOST/PATH?warehouse=NAME&namespace=NAME, tables of an Iceberg REST catalogue (-p TOKEN, or -u CLIENT
-p SECRET).`;
const target = `${database}
duckdb:FILE, sqlite:FILE, a folder of files, of this machine or in a bucket (s3://BUCKET/PREFIX, az://CONTAINER/PREFIX),
${catalogue}`;
const placeholders: Readonly<Record<Tool, readonly string[]>> = {
  xsd2er: [input],
  xml2er: [input, target],
  er2xml: [target],
  unload: [
    `${database}
a folder of Delta or Iceberg tables, of this machine or in a bucket (s3://BUCKET/PREFIX, az://CONTAINER/PREFIX),
${catalogue}`,
  ],
};

/** Returns the text of `--help`; `all`: with every option of the tool. Lines have at most 120 characters. */
export function helpOf(tool: Tool, all: boolean): string {
  const own = toolOptions.filter((option) => option.tools.includes(tool));
  const shown = own.filter(({ long }) => all || everyday.has(long));
  const more = own.length - shown.length;
  return [
    purposes[tool],
    '',
    ...placeholders[tool],
    '',
    ...Object.entries(optionGroups).flatMap(([group, names]) => {
      const options = names.flatMap((name) => shown.filter(({ long }) => long === name));
      return options.length === 0 ? [] : [`${group}:`, ...options.flatMap(optionLines), ''];
    }),
    ...(more === 0 ? [] : [`${tool} --help all: ${more} more options`, '']),
    'Examples:',
    ...examples[tool].flatMap(([command, meaning]) => describe(`  ${command}`, meaning, 60)),
    '',
    'Exit code: 0 completed, 1 failed, 2 wrong usage.',
  ].join('\n');
}

function optionLines({ short, long, usage: [value, meaning] }: OptionSpec): string[] {
  return describe(
    `  ${short === null ? `    ${long}` : `${short}, ${long}`} ${value}`.trimEnd(),
    meaning,
    indent,
  );
}

/** Lines of at most 120 characters with a call and, from column `indent` on, its meaning. Lines of a long call go on behind `  `. */
export function describe(call: string, meaning: string, indent: number): string[] {
  const calls = wrap(call.trimStart(), width - 4);
  const start = ' '.repeat(call.length - call.trimStart().length);
  const [first, ...others] = wrap(meaning, width - indent).map((line) => ' '.repeat(indent) + line);
  const lines = calls.map((line, at) => `${start}${at === 0 ? '' : '    '}${line}`);
  if (lines.length > 1 || lines[0]!.length > indent - 2) return [...lines, first!, ...others];
  return [lines[0]!.padEnd(indent) + first!.trimStart(), ...others];
}

/** Breaks a text at its spaces. A word longer than a line has a line of its own. */
function wrap(text: string, most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > most) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
