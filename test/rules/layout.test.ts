/** src/README.md agrees with the code: its paths exist, its table lists every room, and the numbers of lines are about right. */
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listFiles, projectRoot, readText } from './project-files.ts';

/** The share by which a number may differ from the lines that the room has. */
const tolerance = 0.2;

const page = readText('src/README.md');
const sources = listFiles('src').filter((path) => /\.(?:ts|as|css|sql)$/.test(path));
const rows = [...page.matchAll(/^\| `(\w+)\/`.*\| +([\d,]+) \|$/gm)];

it('names paths below src that exist', () => {
  const code = [...page.matchAll(/^```[^]*?^```$|`[^`]+`/gm)].map(([one]) => one.replaceAll('`', ''));
  const paths = code
    .flatMap((one) => one.split(/[\s,;:()]+/))
    .filter((word) => /^[a-z][\w-]*\/[\w./-]*$/.test(word));
  expect(paths.length).toBeGreaterThan(100);
  expect(
    paths.filter((path) => !existsSync(`${projectRoot}src/${path}`) && !existsSync(projectRoot + path)),
  ).toEqual([]);
});

it('lists every room', () => {
  const rooms = new Set(sources.flatMap((path) => /^src\/(\w+)\//.exec(path)?.[1] ?? []));
  expect(rows.map(([, room]) => room!).toSorted()).toEqual([...rooms].toSorted());
});

it.each(rows.map(([, room, text]) => [room!, Number(text!.replaceAll(',', ''))] as const))(
  '%s has about %i lines',
  (room, stated) => {
    const files = sources.filter((path) => path.startsWith(`src/${room}/`));
    const lines = files.reduce((sum, path) => sum + readText(path).split('\n').length - 1, 0);
    expect(lines).toBeGreaterThan(stated * (1 - tolerance));
    expect(lines).toBeLessThan(stated * (1 + tolerance));
  },
);
