/** The editor of statements. It is a file of its own, which the page loads when a SQL box opens. */
import { acceptCompletion, autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { PostgreSQL, sql, SQLite, type SQLDialect, type SQLNamespace } from '@codemirror/lang-sql';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { quoted, type TargetSql } from './statements.ts';

export interface SqlEditorSettings {
  readonly text: string;
  readonly sql: TargetSql;
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly { readonly name: string; readonly type: string }[];
  }[];
  readonly onRun: () => void;
  readonly onChange: (text: string) => void;
}

export interface SqlEditor {
  text(): string;
  setText(text: string): void;
  focus(): void;
  destroy(): void;
}

/**
 * Opens an editor in an element. It is in a shadow root, because the library adds its styles to a document as a `style` element, which the
 * policy of the page forbids, and to a shadow root as a style sheet object.
 */
export function openSqlEditor(parent: HTMLElement, settings: SqlEditorSettings): SqlEditor {
  const root = parent.attachShadow({ mode: 'open' });
  const dialect = settings.sql === 'sqlite' ? SQLite : PostgreSQL;
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: settings.text,
      extensions: [
        keymap.of([
          { key: 'Mod-Enter', run: () => (settings.onRun(), true) },
          { key: 'Tab', run: acceptCompletion },
          ...completionKeymap,
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        history(),
        bracketMatching(),
        typing,
        autocompletion({ icons: false }),
        sql({ dialect, schema: namespaceOf(settings.tables, dialect) }),
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': 'SQL', spellcheck: 'false' }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) settings.onChange(state.doc.toString());
        }),
        appearance,
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    setText(text) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/**
 * Replaces selected text by typed text. A browser that does so itself keeps the colour of the old text in a `style` attribute, which the
 * policy of the page forbids.
 */
const typing = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    if (inputType !== 'insertText' || data === null || view.composing || view.state.selection.main.empty)
      return false;
    view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
    return true;
  },
});

/** Tables and columns for completion; names that SQL would read otherwise are inserted in quotes. */
function namespaceOf(tables: SqlEditorSettings['tables'], dialect: SQLDialect): SQLNamespace {
  const applied = (name: string): string => (isPlain(name, dialect) ? name : quoted(name));
  return Object.fromEntries(
    tables.map(({ name, columns }) => [
      name.replaceAll('.', '\\.'),
      {
        self: { label: name, type: 'type', apply: applied(name) },
        children: columns.map((column) => ({
          label: column.name,
          detail: column.type,
          type: 'property',
          apply: applied(column.name),
        })),
      },
    ]),
  );
}

/** Whether a name without quotes means itself: words of the language do not. */
function isPlain(name: string, dialect: SQLDialect): boolean {
  if (!/^[a-z_][a-z0-9_]*$/.test(name)) return false;
  return dialect.language.parser.parse(name).resolveInner(0, 1).name === 'Identifier';
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.typeName, tags.operatorKeyword], color: 'var(--accent)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--good)' },
  { tag: [tags.lineComment, tags.blockComment], color: 'var(--muted)' },
]);

const mono = { fontFamily: 'var(--mono)', fontSize: '0.87rem', lineHeight: '1.5' };

const appearance = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { ...mono, minHeight: '8rem', maxHeight: '40vh' },
  '.cm-content': { caretColor: 'var(--text)', padding: '0.6rem 0.4rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-content ::selection, .cm-content::selection': { backgroundColor: 'var(--busy-ground)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--busy-ground)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    maxWidth: 'min(90vw, 32rem)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { ...mono, maxWidth: 'min(90vw, 32rem)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.6rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--busy-ground)',
    color: 'var(--busy)',
  },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
});
