/** The pages of docs/reference that are written from the registries of the code: path from the project's root to text. */
import { readFileSync } from 'node:fs';
import { createApp } from '../../src/app.ts';
import { limitProperties } from '../../src/config/limits.ts';
import { properties, readConfig } from '../../src/config/properties.ts';
import { errorCatalogue, type ErrorCode, type ErrorMeaning } from '../../src/errors.ts';
import {
  codesTable,
  mergeColumns,
  sideTableDefinitions,
  type SideColumn,
  type SideTableDefinition,
} from '../../src/engine/model/side-tables.ts';
import { postgresql } from '../../src/engine/sql/dialects/postgresql.ts';
import { statusOf } from '../../src/http/problem.ts';
import { optionGroups, toolOptions, type OptionSpec } from '../../src/service/jobs/option-table.ts';
import { tools, type Tool } from '../../src/service/jobs/request/tools.ts';
import { createMemoryAdapters } from '../../test/support/memory/adapters.ts';

const folder = 'docs/reference';
const mark = '<!-- generated: npm run docs:reference -->';

/** The pages, without the alignment of tables that oxfmt adds. */
export async function referencePages(): Promise<Readonly<Record<string, string>>> {
  return {
    [`${folder}/options.md`]: optionsPage(),
    [`${folder}/properties.md`]: propertiesPage(),
    [`${folder}/limits.md`]: limitsPage(),
    [`${folder}/endpoints.md`]: await endpointsPage(),
    [`${folder}/side-tables.md`]: sideTablesPage(),
    [`${folder}/error-codes.md`]: errorCodesPage(),
  };
}

function page(title: string, ...parts: readonly (string | readonly string[])[]): string {
  return `${[`# ${title}`, mark, ...parts.map((part) => (typeof part === 'string' ? part : part.join('\n')))].join('\n\n')}\n`;
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [tableRow(heads), tableRow(heads.map(() => '---')), ...rows.map(tableRow)];
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ')).join(' | ')} |`;
}

const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function optionsPage(): string {
  const sections = tools.flatMap((tool) => {
    const own = toolOptions.filter((option) => option.tools.includes(tool));
    const groups = Object.entries(optionGroups).flatMap(([group, names]) => {
      const options = names.flatMap((name) => own.filter(({ long }) => long === name));
      return options.length === 0
        ? []
        : [`### ${group} of ${tool}`, table(['option', 'value', 'meaning'], options.map(optionRow))];
    });
    return [`## ${tool}`, purposeOf[tool], ...groups];
  });
  return page(
    'Options of the commands',
    '`npx COMMAND --help all` prints the same lists, `npx COMMAND --help` the options that most loads need. Over REST, an option is an item of an execution: `{"command": "-o", "enabled": true, "value": "metadb:orders"}`. Options marked with * are only for the command line.',
    ...sections,
  );
}

const purposeOf: Readonly<Record<Tool, string>> = {
  xsd2er: 'Makes tables of an XSD set: [Convert documents](../how-to/convert.md).',
  xml2er:
    'Loads documents: [Convert documents](../how-to/convert.md), [Load again](../how-to/load-again.md).',
  er2xml: 'Writes documents back from rows: [Nothing is lost](../explanation/nothing-is-lost.md).',
  unload: 'Removes the rows of a document: [Load again](../how-to/load-again.md#remove-a-document).',
};

function optionRow({ short, long, overRest, repeatable, usage: [value, meaning] }: OptionSpec): string[] {
  const names = [short, long].filter((name) => name !== null).map((name) => code(name));
  const repeats = repeatable ? '. Can be repeated' : '';
  return [`${names.join(', ')}${overRest ? '' : ' *'}`, code(value), `${sentence(meaning)}${repeats}`];
}

const limitNames: ReadonlySet<string> = new Set(limitProperties.map(({ name }) => name));

function propertyTable(rows: readonly { name: string; initial: string; meaning: string }[]): string[] {
  return table(
    ['property', 'default', 'meaning'],
    rows.map(({ name, initial, meaning }) => [code(name), code(initial), meaning]),
  );
}

function propertiesPage(): string {
  return page(
    'Properties',
    'Properties are read at start from `conf/backend.properties` in the home folder, and from the environment, which takes precedence: `cmd.enabled` is `SVC_CMD_ENABLED`, `svc.files.roots` is `SVC_FILES_ROOTS`. [Operate the service](../how-to/operate.md#start-it) describes `HOST`, `PORT` and `SVC_HOME`.',
    'Properties `svc.limits.*` are on the page [Limits](limits.md). Properties `svc.sources.NAME.*` are described in [Sources of the operator](../how-to/buckets.md#sources-of-the-operator).',
    propertyTable(properties.filter(({ name }) => !limitNames.has(name))),
  );
}

function limitsPage(): string {
  return page(
    'Limits',
    'Each limit is a property. “Past it” names the status code of the request, or the state of the job: `F` failed, `E` expired, `L` lost ([Job states](job-states.md)).',
    propertyTable(limitProperties),
    '## Notes',
    [
      '- `svc.limits.disk` counts the files in the folder of an organisation, and the logs of its jobs. It does not count rows in the metadata database. It is also the most that a job fetches from one location elsewhere.',
      '- The files of jobs and other processes are counted every ten seconds. Until the next count, each process may admit as much again as was left, and a running job may write its log up to `svc.limits.job_log`.',
    ],
    '## Fixed limits',
    'These limits cannot be changed, because documents beyond them use names as data, and their tables would be of no use:',
    [
      '- 10,000 namespace declarations in force',
      '- 100 names and namespaces of more than 16,000 bytes',
      '- for an inferred model: 200,000 paths, 10,000 children of different names, and 10,000 different attributes of one element (past it: F)',
      '- in a pattern of inputs: 1,024 characters, and 64 names from its first wildcard on (past it: 400); 1,000,000 files that it leads past (past it: F)',
    ],
  );
}

interface Description {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly summary: string; readonly tags: readonly string[] }>>>
  >;
}

async function endpointsPage(): Promise<string> {
  const answer = await createApp(createMemoryAdapters(), readConfig({})).request('/doc', {
    headers: { Accept: 'application/json' },
  });
  const { tags, paths } = (await answer.json()) as Description;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary, tags: own }]) => ({ method, path, summary, tags: own })),
  );
  const sections = tags.flatMap(({ name, description }) => [
    `## ${name}`,
    description,
    table(
      ['operation', 'purpose'],
      operations
        .filter((one) => one.tags.includes(name))
        .map(({ method, path, summary }) => [code(`${method.toUpperCase()} ${path}`), summary]),
    ),
  ]);
  return page(
    'Endpoints',
    '`/doc` of a running service describes each operation with its parameters, answers and examples, and lets you try it. [Convert over REST](../how-to/rest-api.md) shows a whole conversion.',
    ...sections,
  );
}

function sideTablesPage(): string {
  const definitions = [...Object.values(sideTableDefinitions), codesTable];
  return page(
    'Side tables',
    'Each target has these tables in addition to the tables of the documents. Their names begin with an underscore. [Query your tables](../how-to/query-tables.md) shows queries of them. Types are those of PostgreSQL.',
    ...definitions.flatMap((definition) => [
      `## ${definition.name}`,
      `${sentence(definition.comment)}.${noteOf(definition)}`,
      columnTable(definition.columns, definition.primaryKey),
      ...(definition.name === sideTableDefinitions.documents.name
        ? [
            'A target that documents were merged into (`-S m`) has these columns too:',
            columnTable(mergeColumns, []),
          ]
        : []),
    ]),
  );
}

function noteOf({ name }: SideTableDefinition): string {
  if (name === codesTable.name) return ' Only loads with `--codes` make it.';
  return name === sideTableDefinitions.keys.name ? ' The value is 0 if keys are hashes.' : '';
}

function columnTable(columns: readonly SideColumn[], key: readonly string[]): string[] {
  return table(
    ['column', 'type', 'meaning'],
    columns.map(({ name, type, nullable, comment }) => [
      code(name),
      code(postgresql.typeName(type)),
      `${sentence(comment)}${key.includes(name) ? ' (primary key)' : nullable ? '' : ' (not null)'}`,
    ]),
  );
}

function errorCodesPage(): string {
  const codes = (Object.keys(errorCatalogue) as ErrorCode[]).toSorted((a, b) => statusOf[a] - statusOf[b]);
  return page(
    'Error codes',
    'An error of the REST interface is a problem document (RFC 9457, `application/problem+json`). `code` is one of the codes below, `detail` describes the case, `errors` has the places in the request, and `request_id` finds it in the log of the service. `help` leads to a page of the service, `/doc/problems/CODE`, which has the same texts as this page.',
    table(
      ['code', 'status', 'meaning', 'retry'],
      codes.map((one) => [
        `[${code(one)}](#${one})`,
        String(statusOf[one]),
        errorCatalogue[one].title,
        errorCatalogue[one].retryable ? 'yes, later' : 'no',
      ]),
    ),
    ...codes.flatMap((one) => {
      const { cause, remedy, page: more }: ErrorMeaning = errorCatalogue[one];
      return [`## ${one}`, cause, more === undefined ? remedy : `${remedy} See ${linkTo(more)}.`];
    }),
  );
}

/** A link to a page, named by its heading. */
function linkTo(path: string): string {
  const [, title] =
    /^# (.+)$/m.exec(readFileSync(new URL(`../../${folder}/${path}`, import.meta.url), 'utf8')) ?? [];
  return `[${title}](${path})`;
}
