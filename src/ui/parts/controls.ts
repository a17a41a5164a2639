/** Things to press and to fill in. */
import { freshId, h, type Content } from './dom.ts';
import { announce } from './notices.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function selectOf(
  label: string,
  choices: readonly Choice[],
  chosen: string,
  onChange: (value: string) => void,
): { readonly field: HTMLElement; readonly input: HTMLSelectElement } {
  const input = h(
    'select',
    { id: freshId('select'), onchange: () => onChange(input.value) },
    choices.map(({ value, label: text }) => h('option', { value, selected: value === chosen }, text)),
  );
  return { field: field(label, input), input };
}

export function field(label: string, input: HTMLElement, hint?: Content): HTMLElement {
  const hintId = hint === undefined ? null : freshId('hint');
  if (input.id === '') input.id = freshId('field');
  if (hintId !== null) input.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: input.id }, label),
    input,
    hintId === null ? null : h('span', { id: hintId, class: 'hint' }, hint),
  );
}

export function searchField(label: string, onInput: (text: string) => void, value = ''): HTMLElement {
  const input = h('input', {
    type: 'search',
    value,
    placeholder: label,
    'aria-label': label,
    spellcheck: 'false',
    oninput: () => onInput(input.value.trim().toLowerCase()),
  });
  return input;
}

/** Text in a fixed width with a button that copies it. */
export function codeBlock(label: string, text: string): HTMLElement {
  return h(
    'div',
    { class: 'code' },
    copyButton(() => text),
    h('pre', { tabindex: '0', role: 'region', 'aria-label': label }, text),
  );
}

export function copyButton(text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', class: 'small copy', onclick: () => void copy() }, 'Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text());
      button.textContent = 'Copied';
      announce('Copied');
    } catch {
      // an address without TLS has no clipboard
      button.textContent = 'Select the text and copy it';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  };
  return button;
}

/** A button that does something that takes a while: it cannot be pressed again meanwhile. */
export function actionButton(label: string, act: () => Promise<void>, kind = ''): HTMLButtonElement {
  const button = h(
    'button',
    {
      type: 'button',
      class: kind,
      onclick: () => {
        button.disabled = true;
        void act().finally(() => (button.disabled = false));
      },
    },
    label,
  );
  return button;
}

/** Whether somebody says yes to a question. */
export function confirm(question: string, yes: string, ...more: Content[]): Promise<boolean> {
  return new Promise((resolve) => {
    const heading = freshId('question');
    const dialog = h(
      'dialog',
      {
        'aria-labelledby': heading,
        onclose: () => {
          dialog.remove();
          resolve(dialog.returnValue === 'yes');
        },
      },
      h('h2', { id: heading }, question),
      more,
      h(
        'div',
        { class: 'row end' },
        h('button', { type: 'button', onclick: () => dialog.close('no') }, 'Cancel'),
        h('button', { type: 'button', class: 'danger', onclick: () => dialog.close('yes') }, yes),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Hands bytes to the browser's downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
