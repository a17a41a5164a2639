/** The plan of the jobs to run, also as calls of the API and as commands. */
import type { OriginRecord } from '../../ports/stores/catalog.ts';

type ToolName = 'xsd2er' | 'xml2er';

/** An option that was given: `value` is '' if it takes none. */
export interface PlannedOption {
  readonly flag: string;
  readonly value: string;
  /** never shown */
  readonly isSecret?: boolean;
}

/** One job. */
export interface PlannedJob {
  readonly tool: ToolName;
  readonly input: InputKind;
  /** `-x`: an id, or `$0` for the schema that the run before it makes; null: the tool makes it */
  readonly origin: string | null;
  readonly options: readonly PlannedOption[];
}

/** The body of `POST /v2/run/cmd`; `paths` are those that uploads returned. */
export function executionsOf(
  runs: readonly PlannedJob[],
  paths: Readonly<Partial<Record<InputKind, string>>>,
): object {
  return {
    executions: runs.map(({ tool, input, origin, options }) => ({
      app_name: tool,
      source: {
        file: { command: paths[input] },
        ...(origin === null ? {} : { origin_id: { command: '-x', value: origin } }),
      },
      target: {
        generation: options.map(({ flag, value }) => ({ command: flag, ...(value === '' ? {} : { value }) })),
      },
    })),
  };
}

/** Quotes text for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Names of the files as one would write them beside them: of a folder, the folder. */
function inputWords(files: readonly InputFile[]): string[] {
  const folders = new Set(
    files.map(({ path }) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')),
  );
  const [folder] = folders;
  if (folders.size === 1 && folder !== undefined && folder !== '') return [`${folder}/`];
  return files.map(({ path }) => path);
}

export function packedName(kind: InputKind): string {
  return kind === 'xml' ? 'documents.tar' : 'schema.tar';
}

export function commandText(
  runs: readonly PlannedJob[],
  files: Readonly<Record<InputKind, readonly InputFile[]>>,
): string {
  return runs
    .map(({ tool, input, origin, options }) => {
      const words = options.flatMap(({ flag, value, isSecret }) => [
        flag,
        ...(value === '' ? [] : [isSecret === true ? '"$PASSWORD"' : quoted(value)]),
      ]);
      const schema = origin === null ? [] : ['-x', origin === '$0' ? '"$ORIGIN"' : origin];
      const line = ['npx', tool, ...inputWords(files[input]).map(quoted), ...schema, ...words].join(' ');
      const isUsed = tool === 'xsd2er' && runs.length > 1;
      return isUsed ? `ORIGIN=$(${line} --json | tail -n 1 | sed 's/.*"origin":\\([0-9]*\\).*/\\1/')` : line;
    })
    .join('\n');
}

export function curlText(
  runs: readonly PlannedJob[],
  files: Readonly<Record<InputKind, readonly InputFile[]>>,
  service: string,
  asksKey: boolean,
): string {
  const kinds = [...new Set(runs.map(({ input }) => input))];
  const auth = asksKey ? ' -H "Authorization: Bearer $KEY"' : '';
  const uploads = kinds.flatMap((kind) => {
    const ofKind = files[kind];
    const isOne = ofKind.length === 1;
    const name = isOne ? ofKind[0]!.file.name : packedName(kind);
    const variable = kind.toUpperCase();
    return [
      ...(isOne ? [] : [`tar cf ${name} ${inputWords(ofKind).map(quoted).join(' ')}`]),
      `TOKEN=$(curl -s${auth} -H "Content-Type: application/json" -d '{"kind":"${kind}"}' "$URL/v2/file/upload/token" |`,
      `  sed 's/.*"token":"\\([^"]*\\)".*/\\1/')`,
      `${variable}=$(curl -s -X POST -T ${quoted(isOne ? ofKind[0]!.path : name)} "$URL/v2/file/upload/${kind}?token=$TOKEN&name=${encodeURIComponent(name).replaceAll("'", '%27')}" | tr -d '"')`,
    ];
  });
  const shown = runs.map((run) => ({
    ...run,
    options: run.options.map((option) => (option.isSecret === true ? { ...option, value: '…' } : option)),
  }));
  const paths = Object.fromEntries(kinds.map((kind) => [kind, `@${kind}@`]));
  // the shell inserts the paths of the uploads between the quotes
  const body = kinds.reduce(
    (text, kind) => text.replaceAll(`@${kind}@`, `'"$${kind.toUpperCase()}"'`),
    JSON.stringify(executionsOf(shown, paths)).replaceAll("'", `'\\''`),
  );
  return [
    `URL=${quoted(service.replace(/\/$/, ''))}`,
    ...(asksKey ? ['KEY=$(cat "$SVC_HOME/admin.key") # or another key'] : []),
    ...uploads,
    `curl -s${auth} -H "Content-Type: application/json" "$URL/v2/run/cmd" -d '${body}'`,
  ].join('\n');
}

// Files that were dropped or chosen: with folders, and sorted into XSD sets and documents by their names.

export type InputKind = 'xml' | 'xsd';

export interface InputFile {
  /** path with its folders, '/'-separated */
  readonly path: string;
  readonly file: File;
  readonly kind: InputKind;
  /** the name of an archive does not tell its content */
  readonly isArchive: boolean;
}

/** dropped at once; more belong into an archive */
export const mostFiles = 20_000;

const archive = /\.(?:zip|tar|tgz|tar\.gz)$/i;
const schema = /\.(?:xsd|dtd|ent)$/i;
/** the name of an OASIS XML Catalog, which resolves the references of a set */
const catalog = /(?:^|\/)catalog\.xml$/i;

export function sortInputs(files: readonly { readonly path: string; readonly file: File }[]): InputFile[] {
  const isSet = files.some(({ path }) => schema.test(path));
  return files.map(({ path, file }) => ({
    path,
    file,
    kind: schema.test(path) || (isSet && catalog.test(path)) ? 'xsd' : 'xml',
    isArchive: archive.test(path),
  }));
}

export function chosenFiles(list: FileList): { path: string; file: File }[] {
  return [...list]
    .filter(isWanted)
    .map((file) => ({ path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath, file }));
}

/** Excludes the files that operating systems leave in folders. */
function isWanted({ name }: { readonly name: string }): boolean {
  return !name.startsWith('.') && name !== 'Thumbs.db';
}

/**
 * Returns the dropped files, including those in folders. Must be called in the event itself, because the browser discards the drop
 * afterwards.
 */
export async function droppedFiles(transfer: DataTransfer): Promise<{ path: string; file: File }[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return chosenFiles(transfer.files);
  const found: { path: string; file: File }[] = [];
  for (const entry of entries) await readEntry(entry, found);
  return found;
}

async function readEntry(entry: FileSystemEntry, found: { path: string; file: File }[]): Promise<void> {
  if (!isWanted(entry) || found.length > mostFiles) return;
  const path = entry.fullPath.replace(/^\//, '');
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // a folder is listed piece by piece, until a piece is empty
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (piece.length === 0) return;
    for (const inner of piece.toSorted((a, b) => a.name.localeCompare(b.name))) await readEntry(inner, found);
  }
}

// The choices made on the page, and the jobs that follow from them.

export type TargetKind = 'metadb' | 'other' | 'none';

export interface Chosen {
  readonly files: Readonly<Record<InputKind, readonly InputFile[]>>;
  /** id of a stored schema; '' if the files make it */
  readonly schema: string;
  /** name of the new schema; '' for the name of the input */
  readonly name: string;
  /** map level; '' for that of the service */
  readonly level: string;
  readonly targetKind: TargetKind;
  /** target as it was typed */
  readonly target: string;
  readonly format: string;
  readonly saveMode: string;
  /** further options of each tool */
  readonly forSchema: readonly PlannedOption[];
  readonly forLoad: readonly PlannedOption[];
}

/** An XSD set that is made first, then the load. */
export function plannedJobs(chosen: Chosen, schemas: readonly OriginRecord[]): PlannedJob[] {
  const { xml, xsd } = chosen.files;
  const makesFromXsd = xsd.length > 0 && chosen.schema === '';
  const makes = [...given('--name', chosen.name), ...given('-g', chosen.level)];
  const jobs: PlannedJob[] = [];
  if (makesFromXsd)
    jobs.push({ tool: 'xsd2er', input: 'xsd', origin: null, options: [...makes, ...chosen.forSchema] });
  if (xml.length > 0) {
    const origin = chosen.schema !== '' ? chosen.schema : makesFromXsd ? '$0' : null;
    jobs.push({
      tool: 'xml2er',
      input: 'xml',
      origin,
      options: [...(origin === null ? makes : []), ...targetOptions(chosen, schemas), ...chosen.forLoad],
    });
  }
  return jobs;
}

function targetOptions(chosen: Chosen, schemas: readonly OriginRecord[]): PlannedOption[] {
  const { targetKind, target } = chosen;
  if (targetKind === 'none') return [];
  const where = targetKind === 'other' ? target : `metadb:${target || suggestedTarget(chosen, schemas)}`;
  return [
    { flag: '-o', value: where },
    ...(targetKind === 'other' ? given('-f', chosen.format) : []),
    ...given('-S', chosen.saveMode),
  ];
}

function given(flag: string, value: string): PlannedOption[] {
  return value === '' ? [] : [{ flag, value }];
}

/** A SQL schema needs a name; one that nobody gave is made of the schema's or of the first file's. */
export function suggestedTarget({ files, schema, name }: Chosen, schemas: readonly OriginRecord[]): string {
  const known = schemas.find(({ id_sch: id }) => String(id) === schema)?.name;
  const [first] = [...files.xsd, ...files.xml];
  const words = name || known || first?.file.name.replace(/\..*$/, '') || 'rows';
  const plain = words
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 40);
  return /^[a-z]/.test(plain) ? plain : `rows_${plain}`.replace(/_$/, '');
}

/** Returns the missing choice as a sentence, or '' if there is none. */
export function whatLacks({ files: { xml, xsd }, schema, targetKind, target }: Chosen): string {
  if (xml.length === 0 && xsd.length === 0) return 'Drop a file first.';
  if (xml.length === 0 && schema !== '') return 'A schema that is there needs documents to read by it.';
  if (xml.length > 0 && targetKind === 'other' && target === '') return 'Say where the rows go.';
  return '';
}
