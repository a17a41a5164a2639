/** Describes the options of `POST /v2/run/cmd` as Markdown, from the tools' own table of options. */
import { toolOptions } from '../../jobs/options/table.ts';
import { tools, type Tool } from '../../jobs/request/tools.ts';

const doings: Readonly<Record<Tool, string>> = {
  xsd2er: 'makes the tables of an XSD set, or of the documents of `--from`',
  xml2er: 'loads documents into tables, and makes the tables where there are none',
  er2xml: 'writes documents back from tables',
  unload: 'removes documents and their rows from a target',
};

/** A heading and a list for each tool. Options that exist at the command line alone are left out. */
export const toolOptionsText = tools
  .map((tool) => {
    const lines = toolOptions
      .filter(({ overRest, tools: of }) => overRest && of.includes(tool))
      .map(({ short, long, usage: [form, meaning], repeatable }) => {
        const names = [short, long].filter((name) => name !== null).join(', ');
        return `- \`${names}${form === '' ? '' : ` ${form}`}\`: ${meaning}${repeatable ? '; may be repeated' : ''}`;
      });
    return `**${tool}** ${doings[tool]}:\n\n${lines.join('\n')}`;
  })
  .join('\n\n');
