/** XML documents in words: nearly all well-formed, with what few documents have. Damage is done to them elsewhere. */
import type { Random } from '../random.ts';

const names = ['a', 'b', 'c', 'item', 'p:a', 'q:b', 'p:item', 'é', 'x-1._', '\u{10400}', 'n'.repeat(64)];
const attributeNames = ['i', 'j', 'k', 'p:i', 'q:i', 'xml:lang', 'xml:space', 'é', 'l'.repeat(40)];
const prefixes = ['p', 'q'];
const uris = ['urn:a', 'urn:b', 'http://h/é', 'urn:a'];
const spaces = [' ', '\n', '\t', '\r\n', '  \r'];
const texts = [
  'text',
  'two words',
  ' ',
  '\n',
  '\r\n',
  '\r',
  ']]',
  ']',
  '&amp;',
  '&lt;',
  '&gt;',
  '&apos;&quot;',
  '&#65;',
  '&#x1F600;',
  '&#13;&#10;',
  '&#38;#60;',
  'é中😀',
  '\u0085\u2028\uFEFF',
  '\uD7FF\uE000\uFFFD',
  '\u{10FFFF}',
  '1234567890',
  'x'.repeat(257),
];
/** what a reference may lead to: declared in nearly all document types that are made */
const entities = ['e1', 'e2', 'e3'];

interface Making {
  readonly random: Random;
  /** elements that may still be made */
  left: number;
  readonly hasEntities: boolean;
}

export function makeXml(random: Random): string {
  const hasEntities = random.chance(0.5);
  const making = { random, left: 1 + random.below(random.chance(0.1) ? 400 : 30), hasEntities };
  const root = random.pick(names);
  const declaration = random.chance(0.4) ? xmlDeclaration(random) : '';
  const type = hasEntities || random.chance(0.2) ? documentType(making, root) : '';
  return `${declaration}${outside(random)}${type}${outside(random)}${makeRoot(making, root)}${outside(random)}`;
}

function xmlDeclaration(random: Random): string {
  const version = random.pick(['1.0', '1.0', '1.0', '1.1', '1.9']);
  const standalone = random.chance(0.3) ? ` standalone='${random.pick(['yes', 'no'])}'` : '';
  return `<?xml version="${version}"${random.chance(0.7) ? ' encoding="UTF-8"' : ''}${standalone}?>`;
}

function outside(random: Random): string {
  return random.chance(0.7)
    ? ''
    : random.pick(['\n', ' \r\n', '<!-- c - d -->', '<?p?>', '<?p i ? >?>', '<!---->']);
}

function space(random: Random): string {
  return random.chance(0.7) ? ' ' : random.pick(spaces);
}

function documentType(making: Making, root: string): string {
  const { random } = making;
  const external = random.chance(0.08)
    ? random.pick([' SYSTEM "x.dtd"', ` PUBLIC "-//X//Y 'z'" "x.dtd"`, " PUBLIC '' ''"])
    : '';
  if (external !== '' && random.chance(0.3)) return `<!DOCTYPE ${root}${external}>`;
  const parts = Array.from({ length: random.below(6) }, () => declaration(making));
  if (making.hasEntities)
    for (const [at, name] of entities.entries())
      parts.push(`<!ENTITY ${name} ${quoted(random, entityValue(random, entities.slice(0, at)))}>`);
  return `<!DOCTYPE${space(random)}${root}${external}${space(random)}[${parts.join(random.pick(['', '\n', ' ']))}]${random.pick(['', ' '])}>`;
}

function quoted(random: Random, text: string): string {
  if (text.includes('"')) return `'${text.replaceAll("'", '&#39;')}'`;
  return random.chance(0.5) || text.includes("'") ? `"${text}"` : `'${text}'`;
}

function entityValue(random: Random, known: readonly string[]): string {
  const name = random.pick(names);
  const inner = random.pick(texts);
  return random.pick([
    '',
    inner,
    `${inner}${inner}`,
    `<b>${inner}</b>`,
    `<${name} i='1'/>${inner}`,
    `<q:b xmlns:q="urn:e">${inner}</q:b>`,
    '<![CDATA[ & ]] > ]]>',
    '<!-- c --><?p i?>',
    '&#60;b/&#62;',
    '&#38;lt;',
    ']&#93;',
    ...known.flatMap((one) => [`&${one};`, `${inner}&${one};<b>&${one};</b>`]),
  ]);
}

function declaration(making: Making): string {
  const { random } = making;
  const element = random.pick(names);
  switch (random.below(9)) {
    case 0:
      return `<!ELEMENT ${element} ${contentModel(random, 0)}>`;
    case 1:
    case 2:
      return `<!ATTLIST ${element}${several(random, 3, () => attributeDefinition(making))}>`;
    case 3:
      return random.pick([
        '<!NOTATION n SYSTEM "s">',
        "<!NOTATION m PUBLIC 'p'>",
        '<!NOTATION o PUBLIC "p" "s">',
      ]);
    case 4:
      return random.pick(['<?p ]> ?>', '<!-- ]> "\' -->', '<?q?>', '<!---->']);
    case 5: {
      const inner = random.pick([
        '',
        `<!ELEMENT ${element} ANY>`,
        "<!ENTITY g 'h'>",
        '<!-- c -->',
        `<!ATTLIST ${element} k CDATA 'from pe'>`,
      ]);
      return `<!ENTITY % pe ${quoted(random, inner)}>${random.chance(0.8) ? '%pe;' : ''}`;
    }
    case 6:
      return random.pick([
        '<!ENTITY x SYSTEM "x.ent">',
        '<!ENTITY u SYSTEM "u" NDATA n>',
        '<!ENTITY % xp SYSTEM "x.pe">',
        '<!ENTITY lt "&#38;#60;">',
        "<!ENTITY amp '&#x26;#38;'>",
        '<!ENTITY gt ">">',
        '<!ENTITY quot "&#34;">',
      ]);
    default:
      return `<!ENTITY f ${quoted(random, entityValue(random, []))}>`;
  }
}

function several(random: Random, most: number, make: () => string): string {
  return Array.from({ length: random.below(most + 1) }, make).join('');
}

function contentModel(random: Random, depth: number): string {
  if (depth === 0 && random.chance(0.4))
    return random.pick(['EMPTY', 'ANY', '(#PCDATA)', '( #PCDATA )*', '(#PCDATA|b | p:a)*']);
  const separator = random.pick([',', '|', ' , ']);
  const part = () =>
    (depth < 4 && random.chance(0.3) ? contentModel(random, depth + 1) : random.pick(names)) +
    random.pick(['', '', '?', '*', '+']);
  const parts = Array.from({ length: 1 + random.below(3) }, part).join(separator);
  return `(${parts})${depth === 0 ? random.pick(['', '*', '+']) : ''}`;
}

function attributeDefinition(making: Making): string {
  const { random } = making;
  const name = random.chance(0.15)
    ? random.pick(['xmlns', 'xmlns:p', 'xmlns:q'])
    : random.pick(attributeNames);
  const type = random.pick([
    'CDATA',
    'CDATA',
    'ID',
    'IDREF',
    'IDREFS',
    'ENTITY',
    'ENTITIES',
    'NMTOKEN',
    'NMTOKENS',
    '(1|m | n)',
    'NOTATION (n|m)',
  ]);
  const value = name.startsWith('xmlns') ? random.pick(uris) : attributeText(making, false);
  const preset = random.pick([
    '#REQUIRED',
    '#IMPLIED',
    `#FIXED ${quoted(random, value)}`,
    quoted(random, value),
  ]);
  return `${space(random)}${name} ${type} ${preset}`;
}

function attributeText({ random, hasEntities }: Making, inContent: boolean): string {
  const text = several(random, 3, () => random.pick([...texts, ...spaces, '>', '  1  2 ', "'"]));
  if (random.chance(0.02)) return text + 'long '.repeat(1000);
  return hasEntities && inContent && random.chance(0.1) ? `${text}&e1;` : text;
}

function makeRoot(making: Making, name: string): string {
  const { random } = making;
  const content = random.chance(0.04) ? extreme(making) : makeContent(making, 0);
  const bound = prefixes
    .filter((prefix) => name.startsWith(`${prefix}:`) || random.chance(0.97))
    .map((prefix) => ` xmlns:${prefix}="urn:${prefix}"`);
  return `<${name}${bound.join('')}${attributes(making)}${spaceOrNone(random)}>${content}</${name}${spaceOrNone(random)}>`;
}

function spaceOrNone(random: Random): string {
  return random.chance(0.1) ? random.pick(spaces) : '';
}

function attributes(making: Making): string {
  const { random } = making;
  const taken = new Set<string>();
  const count = random.chance(0.01) ? 300 : random.chance(0.5) ? 0 : random.below(5);
  let text = '';
  for (let at = 0; at < count; at += 1) {
    const name = count === 300 ? `m${at}` : random.pick(attributeNames);
    // two prefixes may stand for one namespace
    const local = name.replace(/^[pq]:/, 'pq:');
    if (taken.has(local)) continue;
    taken.add(local);
    text += `${space(random)}${name}${spaceOrNone(random)}=${spaceOrNone(random)}${quoted(random, attributeText(making, true).replaceAll('"', ''))}`;
  }
  return text;
}

function makeElement(making: Making, depth: number): string {
  const { random } = making;
  making.left -= 1;
  const name = random.pick(names);
  const declared = random.chance(0.12)
    ? random.pick([
        ' xmlns="urn:d"',
        ' xmlns=""',
        ` xmlns:p="${random.pick(uris)}"`,
        ' xmlns:q="urn:p"',
        ' xmlns:xml="http://www.w3.org/XML/1998/namespace"',
      ])
    : '';
  const start = `<${name}${declared}${attributes(making)}${spaceOrNone(random)}`;
  if (random.chance(0.25)) return `${start}/>`;
  return `${start}>${makeContent(making, depth + 1)}</${name}${spaceOrNone(random)}>`;
}

function makeContent(making: Making, depth: number): string {
  const { random } = making;
  let content = '';
  for (let left = random.below(depth > 12 ? 2 : 6); left > 0; left -= 1) {
    const kind = random.below(12);
    if (kind < 5 && making.left > 0) content += makeElement(making, depth);
    else if (kind < 8) content += random.pick(texts);
    else if (kind === 8) content += '<![CDATA[<&]] >]>\r\né]]>';
    else if (kind === 9)
      content += random.pick(['<!-- c - -->', '<?p i?>', '<?p?>', '<![CDATA[]]>', '<!---->']);
    else if (making.hasEntities) content += `&${random.pick(entities)};`;
    else content += random.pick(spaces);
  }
  return content;
}

/** What is long, deep or much. */
function extreme({ random }: Making): string {
  const count = 1 + random.below(3000);
  return random.pick([
    () => `${'<b>'.repeat(count)}x${'</b>'.repeat(count)}`,
    () => '<b i="1">x</b>\n'.repeat(count),
    () => `<${'m'.repeat(count)} i="1"/>`,
    () => 'text &amp; é '.repeat(count),
    () => `<![CDATA[${'x]'.repeat(count)}]]>`,
    () => `<!--${' x'.repeat(count)}--><?p ${'?y'.repeat(count)}?>`,
    () => Array.from({ length: count }, (_, at) => `<e${at} a${at}=""/>`).join(''),
    () => `<b ${Array.from({ length: count }, (_, at) => `m${at}="${at}"`).join('\n')}/>`,
    () =>
      `${Array.from({ length: Math.min(count, 200) }, (_, at) => `<b xmlns:p="urn:${at}" p:i="1">`).join('')}${'</b>'.repeat(Math.min(count, 200))}`,
  ])();
}
