/** Children that have no row of their own. */
import type { ColumnRole, ColumnType } from '../../../model/relational-model.ts';
import type { SourceChild } from '../../../model/source-model.ts';
import { newNode, type ColumnDraft, type NodeDraft } from '../model-builder.ts';
import { isBare, isLoneWrapper, type Variant } from '../type-graph.ts';
import type { DrawingContext } from './context.ts';
import { flag, ordinal, plainText, type RowContext } from './row-context.ts';
import { addEdge } from './edges.ts';

/** Draws a child that occurs at most once: its values become columns of the row above. */
export function foldChild(
  drawing: DrawingContext,
  parent: NodeDraft,
  row: RowContext,
  child: SourceChild,
  variants: readonly Variant[],
  polymorphic: boolean,
): void {
  const declared = drawing.model.elements[child.element]!;
  const columnKey = `${row.columnKey}/${drawing.uses.element(declared.name)}`;
  // a wrapper around all content of the row's element adds nothing to names
  const isSaid = row.nameParts.length > 0 || !isLoneWrapper(drawing.declared, parent.type);
  const nameParts = isSaid ? [...row.nameParts, declared.name.localName] : row.nameParts;
  for (const variant of variants) {
    const element = drawing.model.elements[variant.element]!;
    const type = drawing.model.types[element.type]!;
    const node = newNode({
      name: element.name,
      table: row.table,
      opensRow: false,
      element: variant.element,
      type: element.type,
    });
    drawing.nodes.push(node);
    const xpath = drawing.paths.child(row.xpath, element.name);
    const sure = child.minOccurs >= 1 && !element.nillable && !polymorphic;
    const inner: RowContext = {
      table: row.table,
      columnKey,
      nameParts,
      path: [...row.path, element.name.localName],
      xpath,
      guarantor: sure ? row.guarantor : null,
      documentation: child.documentation ?? element.documentation,
      met: drawing.choices.metAt(parent.type, child),
    };
    const structure = (word: string, role: ColumnDraft['role'], columnType: ColumnType): ColumnDraft =>
      drawing.tables.column(row.table, `${columnKey}/${word}`, {
        role,
        type: columnType,
        nameParts: [...nameParts, word],
        xpath: role === 'folded_position' ? null : xpath,
        steps: columnKey,
        documentation: role === 'presence' ? inner.documentation : undefined,
      });
    if (element.nillable) node.nil = structure('nil', 'nil', flag);
    // queries on columns of the last version also find later rows
    const goesOn = (role: ColumnRole): boolean => drawing.tables.hadColumn(row.table, role, columnKey);
    if (polymorphic || goesOn('element_name'))
      node.elementName = structure('element', 'element_name', plainText);
    if (!child.orderImplied) node.foldedPosition = structure('position', 'folded_position', ordinal);
    if (!polymorphic && isBare(type)) {
      node.presence = drawing.tables.column(row.table, `${columnKey}/present`, {
        role: 'presence',
        type: flag,
        nameParts,
        xpath,
        steps: columnKey,
        documentation: inner.documentation,
      });
    } else if (
      (!polymorphic && type.complex && !sure && !drawing.choices.alwaysShows(element.type)) ||
      goesOn('presence')
    ) {
      node.presence = structure('present', 'presence', flag);
    }
    drawing.fill(node, inner);
    addEdge(drawing, parent, child, variant, node, {});
  }
}
