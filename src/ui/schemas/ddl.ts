/** The DDL of a logical schema in any dialect. */
import { call } from '../api/client.ts';
import { readChoices } from '../api/choices.ts';
import { actionButton, codeBlock, saveFile, selectOf } from '../parts/controls.ts';
import { h, type Content } from '../parts/dom.ts';
import { fillLater } from '../parts/notices.ts';
import { logicalQuery, type PartContext } from './part-context.ts';

const names: Readonly<Record<string, string>> = {
  postgresql: 'PostgreSQL',
  duckdb: 'DuckDB',
  sqlite: 'SQLite',
  mysql: 'MySQL, MariaDB',
  sqlserver: 'SQL Server',
  oracle: 'Oracle',
  snowflake: 'Snowflake',
  bigquery: 'BigQuery',
  redshift: 'Redshift',
  databricks: 'Databricks',
};

export async function ddlPart(context: PartContext): Promise<Content> {
  const { schema, signal } = context;
  const { dialects } = await readChoices(signal);
  const text = h('div');
  let dialect = dialects[0]!;
  let current = '';
  const show = (): void => {
    const asked = dialect;
    void fillLater(text, signal, async () => {
      const path = `v2/schema/ddl/${schema.id_sch}${logicalQuery(context, { dialect: asked })}`;
      const ddl = await (await call(path, { accept: 'text/plain', signal })).text();
      if (asked === dialect) current = ddl;
      return codeBlock(`DDL for ${names[dialect] ?? dialect}`, current);
    });
  };
  show();
  const choice = selectOf(
    'Dialect',
    dialects.map((value) => ({ value, label: names[value] ?? value })),
    dialect,
    (value) => {
      dialect = value;
      show();
    },
  );
  return [
    h(
      'div',
      { class: 'bar' },
      choice.field,
      actionButton('Download', async () =>
        saveFile(`${schema.name}.${dialect}.sql`, new Blob([current], { type: 'text/plain' })),
      ),
    ),
    text,
  ];
}
