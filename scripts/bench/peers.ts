/** Parsers and loaders to compare with: those found here, and for the others a line that says what is missing. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from './measured-process.ts';

const run = promisify(execFile);

/** Peers of other registries are kept out of the project, and stay from run to run. */
const peersDirectory = join(tmpdir(), 'conversion-bench-peers');
const python = join(peersDirectory, 'venv/bin/python');
const saxesVersion = '6.0.0';

const source = (name: string): string => join(import.meta.dirname, 'peers', name);

export interface ParserPeer {
  readonly name: string;
  /** parses the file and prints its counts */
  command(file: string): Command;
}

/** Ways to load the element-heavy document. */
export interface LoaderPeer {
  readonly name: string;
  /** too slow for the whole document: gets the small one */
  readonly slow: boolean;
  command(file: string, databaseUrl: string): Command;
}

export interface Peers {
  /** libexpat first, where it is there */
  readonly parsers: readonly ParserPeer[];
  readonly loaders: readonly LoaderPeer[];
  /** what was not found, and how to get it */
  readonly skipped: readonly string[];
}

/** `--install-peers`: Python's in an environment of its own, and saxes, in a folder of the system's temporary one. */
export async function installPeers(): Promise<void> {
  await run('python3', ['-m', 'venv', join(peersDirectory, 'venv')]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '-r', source('requirements.txt')]);
  await run('npm', [
    'install',
    '--prefix',
    peersDirectory,
    '--no-audit',
    '--no-fund',
    `saxes@${saxesVersion}`,
  ]);
  console.log(`peers installed in ${peersDirectory}`);
}

/** Looks for peers; what has to be compiled is compiled into `directory`. */
export async function findPeers(directory: string): Promise<Peers> {
  const parsers: ParserPeer[] = [];
  const loaders: LoaderPeer[] = [];
  const skipped: string[] = [];
  const skip = (name: string, reason: string): void => void skipped.push(`${name}: ${reason}`);

  const expat = await answers('cc', ['-O2', '-o', join(directory, 'expat'), source('expat.c'), '-lexpat']);
  if (expat) parsers.push({ name: 'libexpat', command: (file) => own(join(directory, 'expat'), file) });
  else if (await answers('python3', ['-c', 'import pyexpat']))
    parsers.push({
      name: 'libexpat (by Python)',
      command: (file) => own('python3', source('pyexpat_count.py'), file),
    });
  else skip('libexpat', 'no C compiler with expat.h, and no Python');

  const libxml2 = join(directory, 'libxml2');
  const headers = '-I/usr/include/libxml2';
  if (await answers('cc', ['-O2', headers, '-o', libxml2, source('libxml2.c'), '-lxml2']))
    parsers.push({ name: 'libxml2 SAX2', command: (file) => own(libxml2, file) });
  else skip('libxml2 SAX2', 'no C compiler with the headers of libxml2');
  if (await answers('xmllint', ['--version']))
    parsers.push({
      name: 'xmllint --stream',
      command: (file) => own('xmllint', '--stream', '--noout', '--huge', file),
    });
  else skip('xmllint', 'not installed');

  if (await answers('javac', ['-d', directory, source('StaxCount.java')]))
    parsers.push({ name: 'Java StAX', command: (file) => own('java', '-cp', directory, 'StaxCount', file) });
  else skip('Java StAX', 'no javac');

  const saxes = [join(import.meta.dirname, '../..'), peersDirectory]
    .map((folder) => join(folder, 'node_modules/saxes/saxes.js'))
    .find((path) => existsSync(path));
  if (saxes === undefined) skip('saxes', 'not installed: npm run bench -- --install-peers');
  else
    parsers.push({
      name: 'saxes',
      command: (file) =>
        own(
          process.execPath,
          join(import.meta.dirname, 'runs/saxes.mjs'),
          file,
          String(pathToFileURL(saxes)),
        ),
    });

  const interpreter = existsSync(python) ? python : 'python3';
  if (await answers(interpreter, ['-c', 'import lxml, psycopg2']))
    loaders.push({
      name: 'lxml iterparse + COPY',
      slow: false,
      command: (file, url) => own(interpreter, source('lxml_load.py'), file, url),
    });
  else skip('lxml + COPY', 'not installed: npm run bench -- --install-peers');
  if (await answers(interpreter, ['-c', 'import xml2db, psycopg2']))
    loaders.push({
      name: 'xml2db',
      slow: true,
      command: (file, url) => own(interpreter, source('xml2db_load.py'), file, source('elements.xsd'), url),
    });
  else skip('xml2db', 'not installed: npm run bench -- --install-peers');
  if ((await answers('ogr2ogr', ['--version'])) && (await offersGmlas())) {
    const gmlas = (format: string, file: string, place: string): Command =>
      own(
        process.execPath,
        join(import.meta.dirname, 'runs/gmlas.ts'),
        file,
        source('elements.xsd'),
        format,
        place,
      );
    loaders.push(
      {
        name: 'GDAL GMLAS (notes as arrays)',
        slow: true,
        command: (file, url) => gmlas('postgresql', file, url),
      },
      {
        name: 'GDAL GMLAS to SQLite',
        slow: true,
        command: (file) => gmlas('sqlite', file, join(directory, 'gmlas.sqlite')),
      },
      {
        name: 'GDAL GMLAS to CSV',
        slow: true,
        command: (file) => gmlas('csv', file, join(directory, 'gmlas-csv')),
      },
    );
  } else skip('GDAL GMLAS', 'no ogr2ogr with that driver (gdal-bin)');
  return { parsers, loaders, skipped };
}

const own = (file: string, ...args: readonly string[]): Command => ({ file, args });

async function answers(file: string, args: readonly string[]): Promise<boolean> {
  return run(file, args).then(
    () => true,
    () => false,
  );
}

async function offersGmlas(): Promise<boolean> {
  return (await run('ogr2ogr', ['--formats'])).stdout.includes('GMLAS');
}
