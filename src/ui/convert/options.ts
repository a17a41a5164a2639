/** Fields for the options of a tool, made of the same table as its command line. */
import type { OptionChoice } from '../../http/page/choices.ts';
import { freshId, h } from '../parts/dom.ts';
import { field } from '../parts/controls.ts';
import type { PlannedOption } from './plan.ts';

export interface OptionFields {
  readonly element: HTMLElement;
  given(): PlannedOption[];
}

/** `without`: long names of those that have a field elsewhere. */
export function optionFields(
  options: readonly OptionChoice[],
  without: ReadonlySet<string>,
  onChange: () => void,
): OptionFields {
  const fields = options.filter(({ long }) => !without.has(long)).map((option) => oneField(option, onChange));
  return {
    element: h(
      'div',
      { class: 'options' },
      fields.map(({ element }) => element),
    ),
    given: () => fields.flatMap(({ given }) => given()),
  };
}

function oneField(option: OptionChoice, onChange: () => void): OptionFields {
  const { short, long, form, meaning, repeatable } = option;
  const flag = short ?? long;
  const label = short === null ? long : `${long} (${short})`;
  if (form === '') {
    const box = h('input', { type: 'checkbox', id: freshId('option'), onchange: onChange });
    return {
      element: h(
        'div',
        { class: 'field check' },
        box,
        h('label', { for: box.id }, label),
        h('span', { class: 'hint' }, meaning),
      ),
      given: () => (box.checked ? [{ flag, value: '' }] : []),
    };
  }
  const choices = valuesOf(form);
  if (choices !== null) {
    const select = h(
      'select',
      { onchange: onChange },
      h('option', { value: '' }, 'default'),
      choices.map((value) => h('option', { value }, value)),
    );
    return {
      element: field(label, select, meaning),
      given: () => (select.value === '' ? [] : [{ flag, value: select.value }]),
    };
  }
  const isSecret = long.includes('password');
  const input = repeatable
    ? h('textarea', { rows: 1, placeholder: `${form}, one a line`, oninput: onChange, spellcheck: 'false' })
    : h('input', {
        type: isSecret ? 'password' : 'text',
        placeholder: form,
        oninput: onChange,
        spellcheck: 'false',
        autocomplete: 'off',
      });
  return {
    element: field(label, input, meaning),
    given: () =>
      (repeatable ? input.value.split('\n') : [input.value])
        .filter((value) => value.trim() !== '')
        .map((value) => ({
          flag,
          value: isSecret ? value : value.trim(),
          ...(isSecret ? { isSecret } : {}),
        })),
  };
}

/** `a|d|s` and `0..3` say all that is allowed; null for other forms. */
export function valuesOf(form: string): string[] | null {
  if (/^[a-z0-9]+(?:\|[a-z0-9]+)+$/.test(form)) return form.split('|');
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(form) ?? [];
  if (from === undefined) return null;
  return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => String(Number(from) + at));
}
