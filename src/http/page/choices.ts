/** The choices that the page offers: the options of the tools, as on their command lines, and the dialects of the DDL. */
import { dialectNames, dialectOf } from '../../engine/sql/dialects/every-dialect.ts';
import { toolOptions } from '../../jobs/options/table.ts';

export interface OptionChoice {
  /** `-g`; null if there is none */
  readonly short: string | null;
  readonly long: string;
  /** form of the value, such as `0..3`; '' if there is none */
  readonly form: string;
  readonly meaning: string;
  readonly repeatable: boolean;
}

export interface PageChoices {
  readonly tools: Readonly<Record<'xsd2er' | 'xml2er', readonly OptionChoice[]>>;
  readonly dialects: readonly { readonly name: string; readonly title: string }[];
}

export function pageChoices(): PageChoices {
  return {
    tools: { xsd2er: optionsOf('xsd2er'), xml2er: optionsOf('xml2er') },
    dialects: dialectNames.map((name) => ({ name, title: dialectOf(name).title })),
  };
}

function optionsOf(tool: 'xsd2er' | 'xml2er'): OptionChoice[] {
  return toolOptions
    .filter(({ tools, overRest }) => overRest && tools.includes(tool))
    .map(({ short, long, usage: [form, meaning], repeatable }) => ({
      short,
      long,
      form,
      meaning,
      repeatable,
    }));
}
