/** What the comments on tables and columns say: the XPath first, then the documentation. */
import type { Column, RelationalModel, Table } from '../model/relational-model.ts';

export function tableComment(table: Table): string {
  const what =
    table.continues !== undefined
      ? ' (further columns of the same rows)'
      : table.kind === 'text'
        ? ' (text runs)'
        : table.kind === 'wildcard'
          ? ' (content of wildcards, as XML)'
          : '';
  return withDocumentation(`${table.xpath}${what}`, table.documentation);
}

export function columnComment(model: RelationalModel, column: Column): string {
  return withDocumentation(column.xpath ?? structureComment(model, column), column.documentation);
}

function structureComment(model: RelationalModel, column: Column): string {
  switch (column.role) {
    case 'row_key':
      return column.references === null
        ? 'row key'
        : `row key, that of the row in ${model.tables[column.references]?.name ?? ''}`;
    case 'parent_key':
      return column.references === null
        ? 'key of the parent row'
        : `key of the parent row in ${model.tables[column.references]?.name ?? ''}`;
    case 'position':
      return 'position among the children of its parent, from 1';
    case 'document':
      return 'document, as in _documents';
    case 'element_name':
      return 'name of the element';
    case 'type_name':
      return 'type that xsi:type names';
    case 'nil':
      return 'true where xsi:nil says so';
    case 'presence':
      return 'true where the element is there';
    case 'folded_position':
      return 'position among the children, from 1';
    case 'content':
      return 'content';
    default:
      return 'extra column';
  }
}

function withDocumentation(text: string, documentation: string | undefined): string {
  return documentation === undefined || documentation.trim() === '' ? text : `${text}: ${documentation}`;
}

/** On one line, without control characters, of at most `maxLength` characters. */
export function commentLine(text: string, maxLength: number | null): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  if (maxLength === null || line.length <= maxLength) return line;
  // a surrogate pair is not to be cut in two
  const head = line.slice(0, maxLength - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}…`;
}
