/** The dialogs for the key: the page asks for one if the service requires it; later it can be changed or forgotten. */
import { call, getJson, RefusedRequest } from './client.ts';
import { forgetKey, keepKey, keptKey } from './key.ts';
import { fill, freshId, h, failureBox, messageOf } from '../parts/controls.ts';

interface Organisation {
  readonly name: string;
  readonly id_org: number;
}

/** Returns the organisation of the key, or null if the service requires a key or does not know this one. */
export async function whoAsks(): Promise<Organisation | null> {
  try {
    return await getJson<Organisation>('v2/about/org');
  } catch (error) {
    if (error instanceof RefusedRequest && error.status === 401) return null;
    throw error;
  }
}

/** `wasRefused`: there was a key that is not valid any more. */
export function keyForm(wasRefused: boolean, done: () => void): HTMLElement {
  const input = h('input', {
    id: freshId('key'),
    type: 'password',
    name: 'key',
    required: true,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'svk_…',
  });
  const remember = h('input', { type: 'checkbox', id: freshId('remember') });
  const reveal = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      'aria-pressed': 'false',
      onclick: () => {
        input.type = input.type === 'password' ? 'text' : 'password';
        reveal.setAttribute('aria-pressed', String(input.type === 'text'));
      },
    },
    'Show',
  );
  const says = h('div', { role: 'alert' });
  if (wasRefused)
    fill(
      says,
      h(
        'p',
        { class: 'notice bad' },
        'The service does not take the key that was given: it is unknown, has expired or was ended.',
      ),
    );
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const key = input.value.trim();
    fill(says);
    if (!/^[\x21-\x7e]+$/.test(key)) {
      fill(says, h('p', { class: 'notice bad' }, 'A key is one line without blanks, such as svk_…'));
      return input.focus();
    }
    try {
      await call('v2/about/org', { key });
    } catch (error) {
      fill(says, refusalOfKey(error));
      return input.focus();
    }
    keepKey({ key, forBrowser: remember.checked });
    done();
  };
  return h(
    'form',
    { class: 'card key-form', onsubmit: (event: Event) => void submit(event) },
    says,
    h('label', { for: input.id }, 'API key'),
    h('div', { class: 'row' }, input, reveal),
    h(
      'div',
      { class: 'check' },
      remember,
      h('label', { for: remember.id }, 'Remember it in this browser'),
      h('span', { class: 'hint' }, 'else it is kept until this tab is closed'),
    ),
    h('button', { type: 'submit', class: 'main' }, 'Open'),
    h(
      'p',
      { class: 'hint' },
      'The first key is in the file ',
      h('code', {}, 'admin.key'),
      ' in the home folder of the service: ',
      h('code', {}, 'cat "$SVC_HOME/admin.key"'),
      '. A key with the scope ',
      h('code', {}, 'admin'),
      ' makes others.',
    ),
  );
}

function refusalOfKey(error: unknown): HTMLElement {
  if (error instanceof RefusedRequest && error.status === 401)
    return h(
      'p',
      { class: 'notice bad' },
      'The service does not know this key, or it has ended. Is it of this installation, and whole?',
    );
  return error instanceof RefusedRequest
    ? failureBox(error)
    : h('p', { class: 'notice bad' }, messageOf(error));
}

/** The dialog that the button at the top opens: it shows the organisation of the key, and lets the user forget the key. */
export function keyDialog(org: Organisation | null, changed: () => void): HTMLDialogElement {
  const kept = keptKey();
  const heading = freshId('key-heading');
  const close = (): void => {
    dialog.close();
    dialog.remove();
  };
  const dialog = h(
    'dialog',
    { 'aria-labelledby': heading, onclose: () => dialog.remove() },
    h('h2', { id: heading }, 'Key'),
    org === null ? null : h('p', {}, 'Organisation ', h('strong', {}, org.name), '.'),
    h(
      'p',
      {},
      kept === null
        ? 'No key is given: the service asks for none.'
        : `The key is kept ${kept.forBrowser ? 'in this browser' : 'until this tab is closed'}.`,
    ),
    h(
      'div',
      { class: 'row end' },
      kept === null
        ? null
        : h(
            'button',
            {
              type: 'button',
              onclick: () => {
                forgetKey();
                close();
                changed();
              },
            },
            'Forget the key',
          ),
      h('button', { type: 'button', class: 'main', onclick: close }, 'Close'),
    ),
  );
  return dialog;
}
