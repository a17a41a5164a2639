/** Our tool, xml2db and GDAL's GMLAS driver, each as something that loads the documents of a standard into PostgreSQL. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Sql } from '../../src/postgres/connect.ts';
import { corpusDirectory, programOf } from '../../test/support/needs.ts';
import { readCorpus } from '../../test/support/corpus.ts';
import { loadStandard } from '../../test/support/questions/load.ts';
import type { Standard } from '../../test/support/questions/kinds.ts';

export interface Failure {
  /** path in the corpus; null: all documents of the standard */
  readonly document: string | null;
  readonly reason: string;
}

export interface Tool {
  readonly name: string;
  /** what it makes shorter than this, has all its words */
  readonly nameBytes: number;
  /** where its tables of a standard lie */
  sqlSchema(standard: Standard): string;
  /** folder of its queries to our standards; undefined: where `queriesOf` looks */
  readonly queries: string | undefined;
  /** `seconds`: how long it may take for a standard */
  load(place: Place, standard: Standard, seconds: number): Promise<readonly Failure[]>;
}

export interface Place {
  readonly url: string;
  readonly sql: Sql;
  /** for files that a tool needs for itself */
  readonly directory: string;
}

const execute = promisify(execFile);
const longest = 300;

export const ours: Tool = {
  name: 'ours',
  nameBytes: 63,
  queries: undefined,
  sqlSchema: ({ name }) => name,
  load: async ({ url }, standard) => {
    try {
      await loadStandard(
        url,
        standard,
        standard.documents.map((name) => readCorpus(name)),
      );
      return [];
    } catch (error) {
      return [{ document: null, reason: error instanceof Error ? error.message : String(error) }];
    }
  },
};

export const xml2db: Tool = {
  name: 'xml2db',
  nameBytes: 63,
  queries: join(import.meta.dirname, 'sql/xml2db'),
  sqlSchema: ({ name }) => `xml2db_${name}`,
  load: async ({ url }, standard, seconds) => {
    const script = join(import.meta.dirname, 'xml2db_load.py');
    const paths = [standard.xsd, ...standard.documents].map((name) => join(corpusDirectory, name));
    const arguments_ = [script, url, `xml2db_${standard.name}`, ...paths];
    try {
      const { stdout } = await execute(programOf('xml2db')!, arguments_, { timeout: seconds * 1000 });
      const told = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as {
        failure: string | null;
        refused: { document: number; reason: string }[];
      };
      if (told.failure !== null) return [{ document: null, reason: told.failure }];
      return told.refused.map(({ document, reason }) => ({
        document: standard.documents[document]!,
        reason,
      }));
    } catch (error) {
      return [{ document: null, reason: reasonOf(error, seconds) }];
    }
  },
};

/** Layers and fields without values are left out, as the tables of the others are: what a later document brings is added. */
export const gmlas: Tool = {
  name: 'GMLAS',
  nameBytes: 60,
  queries: join(import.meta.dirname, 'sql/gmlas'),
  sqlSchema: ({ name }) => `gmlas_${name}`,
  load: async ({ url, sql, directory }, standard, seconds) => {
    const schema = `gmlas_${standard.name}`;
    await sql.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema}`);
    const failures: Failure[] = [];
    const until = Date.now() + seconds * 1000;
    for (const [at, document] of standard.documents.entries()) {
      const left = Math.max(1, until - Date.now());
      try {
        const path = await withoutDoctype(document, directory);
        await execute('ogr2ogr', gmlasArguments(url, schema, standard.xsd, path, at > 0), { timeout: left });
      } catch (error) {
        failures.push({ document, reason: reasonOf(error, seconds) });
      }
      if (Date.now() >= until) break;
    }
    return failures;
  },
};

/** A DTD at an address of the web is nothing that it has to fail for. */
async function withoutDoctype(document: string, directory: string): Promise<string> {
  const path = join(corpusDirectory, document);
  const text = await readFile(path, 'utf8');
  if (!text.includes('<!DOCTYPE')) return path;
  const copy = join(directory, document.replaceAll('/', '-'));
  await writeFile(copy, text.replace(/<!DOCTYPE[^[>]*>/, ''));
  return copy;
}

function gmlasArguments(url: string, schema: string, xsd: string, path: string, isLater: boolean): string[] {
  const { hostname, port, username, password, pathname } = new URL(url);
  // this driver puts words of its own behind an address, and takes them for the name of the database
  const target = `PG:host=${hostname} port=${port} user=${username} password=${password} dbname=${pathname.slice(1)}`;
  const later = ['-append', '-update', '-addfields', '-doo', `ACTIVE_SCHEMA=${schema}`];
  // the two seconds that it gives its parser otherwise are too few for large sets
  const patience = '-q -forceNullable --config OGR_GMLAS_XERCES_MAX_TIME 600 -f PostgreSQL'.split(' ');
  const set = `XSD=${join(corpusDirectory, xsd)}`;
  const source = [
    `GMLAS:${path}`,
    '-oo',
    set,
    '-oo',
    'REMOVE_UNUSED_LAYERS=YES',
    '-oo',
    'REMOVE_UNUSED_FIELDS=YES',
  ];
  return [...patience, target, '-lco', `SCHEMA=${schema}`, ...(isLater ? later : []), ...source];
}

/** What it said itself, without its arguments: they have a password. */
function reasonOf(error: unknown, seconds: number): string {
  const { killed, signal, stderr } = error as { killed?: boolean; signal?: string | null; stderr?: string };
  if (killed === true) return `not done after ${seconds} s`;
  if (typeof signal === 'string') return `ended by ${signal}`;
  const lines = (stderr ?? '').split('\n').filter((line) => /error|exception/i.test(line));
  return (lines.at(-1) ?? 'ended without a word').slice(0, longest);
}
