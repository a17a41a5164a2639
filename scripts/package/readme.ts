/**
 * The README and the pages of the published package, out of those of the checkout: what users install instead of cloning, the commands
 * that they have, and the files that they get. What only a checkout can do is left out.
 */
const folder = 'node_modules/conversion-job-service';

const installation = `You need Linux and Node 22.18 or later. A PostgreSQL comes with the package. Run these commands in an empty folder:

\`\`\`sh
npm init -y
npm install conversion-job-service
cp -r ${folder}/examples/orders . # an XSD set and four documents, for the examples
npx conversion-job-service --help
\`\`\`
`;

const beginning = `## Install

${installation}`;

/** The section about running the checkout. */
const ofReaders = 'Try it';

/** What is called otherwise in the package. */
const renamed: readonly (readonly [from: RegExp, to: string])[] = [
  [/\bnpm start\b/g, 'npx conversion-job-service'],
  [/\bnpm run worker\b/g, 'npx conversion-job-service worker'],
  [/\bscripts\/demo\//g, 'orders/'],
  [
    /npm run package && npm install --prefix (\S+) dist\/\S+\.tgz/g,
    'npm install --prefix $1 conversion-job-service',
  ],
  [/\bscripts\/systemd\//g, 'examples/systemd/'],
  [/(?<=\[`)wrangler\.toml(?=`\])/g, 'examples/edge/wrangler.toml'],
  [/(?<=\]\((?:\.\.\/)+)wrangler\.toml(?=\))/g, 'examples/edge/wrangler.toml'],
  [/, \[contributing\]\(CONTRIBUTING\.md\)/g, ''],
  [/(?<=^## 1\. Install the service\n\n)[^]*?(?=^## 2\.)/gm, `${installation}\n`],
  [/`src\/runtime\/workers\.ts`/g, 'the entry `conversion-job-service/edge`'],
];

/** Commands and files that only a checkout has. */
const ofCheckout = /\bnpm\s+(?:run|test|ci)\b|SPARK_SUBMIT=|\bnpm install -g\b|\bContainerfile\b/;

export function packageReadme(readme: string): string {
  const [introduction = '', ...sections] = readme.split(/^(?=## )/m);
  const kept = sections.filter((section) => !section.startsWith(`## ${ofReaders}\n`));
  return packagePage([introduction, beginning, ...kept].join('\n'));
}

/** A page of docs/. */
export function packagePage(text: string): string {
  const named = renamed.reduce((all, [from, to]) => all.replace(from, to), text);
  // paragraph by paragraph, code blocks as they are
  return named
    .split(/(^```[^]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : part.split('\n\n').map(usable).join('\n\n')))
    .join('')
    .replaceAll(/\n{3,}/g, '\n\n');
}

/** A paragraph, list or table without the sentences and rows about things that only a checkout has. */
function usable(paragraph: string): string {
  if (!ofCheckout.test(paragraph)) return paragraph;
  return paragraph
    .split(/\n(?=- |\d+\. |\|)/)
    .map(usableItem)
    .filter((item) => item !== '')
    .join('\n');
}

function usableItem(item: string): string {
  if (!ofCheckout.test(item)) return item;
  if (item.startsWith('|')) return '';
  const [, bullet = '', text = ''] = /^(- |\d+\. )?([^]*)$/.exec(item) ?? [];
  const kept = text.split(/(?<=[.:])\s+(?=[A-Z`])/).filter((sentence) => !ofCheckout.test(sentence));
  return kept.length === 0 ? '' : bullet + kept.join(' ');
}
