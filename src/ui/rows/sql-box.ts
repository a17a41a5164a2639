/** A box for one statement that reads a target: an editor, the statements that were run, and the rows. */
import {
  announce,
  counted,
  duration,
  empty,
  failureBox,
  fill,
  h,
  notice,
  waiting,
  type Content,
} from '../parts/controls.ts';
import { csvButtons, valueGrid } from '../parts/value-grid.ts';
import { serviceUrl } from '../service-url.ts';
import type { SqlEditor, SqlEditorSettings } from './sql-editor.ts';
import { quoted } from './statements.ts';
import { runStatement } from './table-rows.ts';
import type { TargetContext } from './target-context.ts';

/** Statements by target, the newest first. They contain values of documents, so they are in no storage, and end with the tab or the key. */
const statements = new Map<string, readonly string[]>();
const drafts = new Map<string, string>();
const mostStatements = 50;

addEventListener('key-changed', () => {
  statements.clear();
  drafts.clear();
});

export function sqlPart({ target, sql, tables, query, signal }: TargetContext): Content {
  const table = query.get('table') ?? tables[0]?.name ?? null;
  const frame = h('div', { class: 'sql-editor' });
  const result = h('div', {}, sqlHint());
  const past = h('details', { hidden: true });
  const run = h(
    'button',
    { type: 'button', class: 'main', disabled: true, onclick: () => void runNow() },
    'Run',
  );
  let editor: SqlEditor | null = null;
  let pending = new AbortController();
  signal.addEventListener('abort', () => {
    pending.abort();
    editor?.destroy();
  });
  showPast();
  void open();
  return [
    frame,
    h('div', { class: 'bar sql-bar' }, run, h('span', { class: 'hint' }, 'Ctrl+Enter runs the statement.')),
    past,
    result,
  ];

  async function open(): Promise<void> {
    fill(frame, waiting());
    try {
      const { openSqlEditor } = await loadEditor();
      if (signal.aborted) return;
      const place = h('div');
      fill(frame, place);
      editor = openSqlEditor(place, {
        text:
          drafts.get(target) ?? (table === null ? 'select ' : `select *\nfrom ${quoted(table)}\nlimit 100`),
        sql,
        tables,
        onRun: () => void runNow(),
        onChange: (text) => void drafts.set(target, text),
      });
      run.disabled = false;
    } catch (error) {
      fill(
        frame,
        failureBox(error, () => void open()),
      );
    }
  }

  async function runNow(): Promise<void> {
    const statement = editor?.text().trim() ?? '';
    if (statement === '') return;
    pending.abort();
    pending = new AbortController();
    const own = pending.signal;
    remember(statement);
    fill(result, waiting('Running …'));
    const started = performance.now();
    try {
      const found = await runStatement(target, statement, own);
      if (own.aborted) return;
      const took = duration(performance.now() - started);
      const summary = `${counted(found.rows.length, 'row')} in ${took}`;
      announce(summary);
      fill(
        result,
        found.truncated
          ? notice('info', 'The statement has more rows than are shown. Add a condition or a limit.')
          : null,
        h('div', { class: 'bar' }, h('span', { class: 'hint' }, summary), csvButtons('result', found)),
        found.rows.length === 0
          ? empty('The statement has no rows.')
          : valueGrid('Rows of the statement', found),
      );
    } catch (error) {
      if (!own.aborted)
        fill(
          result,
          failureBox(error, () => void runNow()),
        );
    }
  }

  function remember(statement: string): void {
    const others = (statements.get(target) ?? []).filter((one) => one !== statement);
    statements.set(target, [statement, ...others].slice(0, mostStatements));
    showPast();
  }

  function showPast(): void {
    const all = statements.get(target) ?? [];
    past.hidden = all.length === 0;
    fill(
      past,
      h('summary', {}, `History (${all.length})`),
      h(
        'ul',
        { class: 'history' },
        all.map((statement) =>
          h(
            'li',
            {},
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                onclick: () => {
                  editor?.setText(statement);
                  editor?.focus();
                },
              },
              statement,
            ),
          ),
        ),
      ),
      h('p', { class: 'hint' }, 'Kept until this tab is closed or reloaded.'),
    );
  }
}

function sqlHint(): HTMLElement {
  return h(
    'p',
    { class: 'hint' },
    'One SELECT over the tables and views of this target. At most 1,000 rows are shown, and it may take 10 seconds.',
  );
}

interface EditorModule {
  openSqlEditor(parent: HTMLElement, settings: SqlEditorSettings): SqlEditor;
}

async function loadEditor(): Promise<EditorModule> {
  const address = `${serviceUrl}ui/sql-editor.js`;
  try {
    return (await import(address)) as EditorModule;
  } catch {
    throw new Error('The editor cannot be loaded. Is this machine connected to the service?');
  }
}
