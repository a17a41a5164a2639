/** The DDL of a logical schema in any dialect. */
import { call } from '../api/client.ts';
import { readChoices } from '../api/choices.ts';
import { actionButton, codeBlock, saveFile, selectOf } from '../parts/controls.ts';
import { h, type Content } from '../parts/dom.ts';
import { fillLater } from '../parts/notices.ts';
import { logicalQuery, type PartContext } from './part-context.ts';

export async function ddlPart(context: PartContext): Promise<Content> {
  const { schema, signal } = context;
  const { dialects } = await readChoices(signal);
  const text = h('div');
  let { name: dialect } = dialects[0]!;
  const titleOf = (name: string): string => dialects.find((one) => one.name === name)?.title ?? name;
  let current = '';
  const show = (): void => {
    const asked = dialect;
    void fillLater(text, signal, async () => {
      const path = `v2/schema/ddl/${schema.id_sch}${logicalQuery(context, { dialect: asked })}`;
      const ddl = await (await call(path, { accept: 'text/plain', signal })).text();
      if (asked === dialect) current = ddl;
      return codeBlock(`DDL for ${titleOf(dialect)}`, current);
    });
  };
  show();
  const choice = selectOf(
    'Dialect',
    dialects.map(({ name, title }) => ({ value: name, label: title })),
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
