/** Names that are hard on identifiers: alike but for case, reserved words, the names of structure columns, signs, scripts, length. */
import type { QName } from '../../../src/engine/model/source-model.ts';
import type { Choices } from './random.ts';

const localNames = [
  'a',
  'b',
  'c',
  'item',
  'Item',
  'ITEM',
  'order',
  'Order',
  'select',
  'table',
  'user',
  'key',
  'position',
  'document_key',
  'Document',
  '_documents',
  '_svc_staging_1_deadbeef_x',
  'value',
  'Value',
  'text',
  'any',
  'nil',
  'type',
  'element',
  'present',
  'head',
  'parent',
  'any_attributes',
  'item_key',
  'a_key',
  'a.b',
  'a-b',
  'a_b',
  'aB',
  'AB',
  '_',
  '_a',
  '__',
  'x-1.y_2',
  'Größe',
  'GRÖSSE',
  'größe',
  '名前',
  'ı',
  'I',
  'i',
  'İ',
  'ß',
  'tag\u0300',
  'constructor',
  'toString',
  'hasOwnProperty',
  '__proto__',
  'aVeryLongNameThatGoesOnAndOnUntilNoDatabaseCanHoldItAsAnIdentifier_1',
  'aVeryLongNameThatGoesOnAndOnUntilNoDatabaseCanHoldItAsAnIdentifier_2',
  'ТаблицаСОченьДлиннымИменемКотороеНеПомещаетсяВПределИдентификатора',
] as const;

export function localName(choices: Choices): string {
  return choices.pick(localNames);
}

/** A name that is not taken yet; takes it. */
export function freshName(choices: Choices, namespaceUri: string, taken: Set<string>): QName {
  const wanted = localName(choices);
  for (let number = 1; ; number += 1) {
    const local = number === 1 ? wanted : `${wanted}${number}`;
    const key = `{${namespaceUri}}${local}`;
    if (taken.has(key)) continue;
    taken.add(key);
    return { namespaceUri, localName: local };
  }
}
