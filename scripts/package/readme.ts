/**
 * The README and the pages of the published package, out of those of the checkout: what users install instead of cloning, the commands
 * that they have, and the files that they get. What only a checkout can do is left out.
 */
const folder = 'node_modules/conversion-job-service';

const beginning = `## Install

All it needs is Linux and Node 22.18 or later: a PostgreSQL comes with it. In an empty folder:

\`\`\`sh
npm init -y
npm install conversion-job-service
cp -r ${folder}/examples/orders . # an XSD set and four documents, for what follows
npx conversion-job-service --help
\`\`\`
`;

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
  [/With a \[`Containerfile`\]\(\.\.\/Containerfile\) and a \[systemd unit\]/g, 'With a [systemd unit]'],
  [/(?<=\[`)wrangler\.toml(?=`\])/g, 'examples/edge/wrangler.toml'],
  [/(?<=\]\(\.\.\/)wrangler\.toml(?=\))/g, 'examples/edge/wrangler.toml'],
  [/^\| \[CONTRIBUTING\.md\].*\n/gm, ''],
  [/`src\/runtime\/workers\.ts`/g, 'the entry `conversion-job-service/edge`'],
];

/** Commands and files that only a checkout has. */
const ofCheckout = /\bnpm\s+(?:run|test|ci)\b|SPARK_SUBMIT=|\bnpm install -g\b/;

export function packageReadme(readme: string): string {
  const [introduction = '', ...sections] = readme.split(/^(?=## )/m);
  const kept = sections.filter((section) => !section.startsWith(`## ${ofReaders}\n`));
  return packagePage([introduction.replace(/^All it needs is .*\n.*\n/m, ''), beginning, ...kept].join('\n'));
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

/** Without the sentences that speak of what only a checkout has. */
function usable(paragraph: string): string {
  if (!ofCheckout.test(paragraph)) return paragraph;
  return paragraph
    .split(/(?<=[.:])\s+(?=[A-Z`])/)
    .filter((sentence) => !ofCheckout.test(sentence))
    .join(' ');
}
