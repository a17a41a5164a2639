/** Local names: plain ones, names that differ only in case, names with a meaning in SQL or in our tables, and long ones. */
import type { Random } from '../../../test/fuzz/random.ts';
import { keyOf, type Name } from './terms.ts';

const plain = 'a b c item note line party price code amount seller part unit x1'.split(' ');
const odd = [
  'A Item ITEM Note partyName PartyName party_name party-name party.name _file Größe 名前 l1 I1',
  'select group table order user null constructor __proto__ ctid xmin tableoid rowid _documents',
  'value text type role key id position document_key content item_key nil present',
  'aVeryLongNameThatGoesOnAndOnUntilNoDatabaseWouldTakeItAsAnIdentifierAnyMore',
].flatMap((names) => names.split(' '));

/** Returns a name that `taken` does not have, and adds it there. */
export function freshName(random: Random, uri: string, taken: Set<string>): Name {
  for (let tries = 0; ; tries += 1) {
    const local = random.pick(random.chance(0.3) ? odd : plain) + (tries > 3 ? String(tries) : '');
    const name = { uri, local };
    if (taken.has(keyOf(name))) continue;
    taken.add(keyOf(name));
    return name;
  }
}
