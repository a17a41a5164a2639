/** What goes wrong with files, in the words of the service. */
import { AppError } from '../../errors.ts';

const passing = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'EROFS', 'ESTALE']);
/** What is wrong with the place, in words. */
const refused: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  ENOTDIR: 'a file stands where a folder is needed',
  EEXIST: 'a file stands where a folder is needed',
  EISDIR: 'a folder stands where a file is needed',
  ENOENT: 'the folder is not there, or a link in its path leads nowhere',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'a link stands in the way',
};

/** Faults of the file system and of DuckDB become AppErrors; others stay as they are. */
export function fileFault(error: unknown, label: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (passing.has(code)) {
    return new AppError('service_unavailable', `${label}: cannot be written (${code}).`, { cause: error });
  }
  if (Object.hasOwn(refused, code)) {
    return new AppError('target_not_allowed', `${label}: cannot be written: ${refused[code]} (${code}).`, {
      cause: error,
    });
  }
  if (/^IO Error: .*(?:Is a directory|Permission denied)/.test(error.message)) {
    const why = refused[/Is a directory/.test(error.message) ? 'EISDIR' : 'EACCES'];
    return new AppError('target_not_allowed', `${label}: cannot be written: ${why}.`, { cause: error });
  }
  if (/No space left on device|Out of Memory Error|failed to offload|could not write/i.test(error.message)) {
    return new AppError('service_unavailable', `${label}: ${firstLine(error)}`, { cause: error });
  }
  // something of the user's hangs on a table: an index, a foreign key
  if (/^(?:Dependency|Catalog|Constraint) Error/.test(error.message)) {
    return new AppError('conflict', `${label}: ${firstLine(error)}`, { cause: error });
  }
  return error;
}

function firstLine(error: Error): string {
  return error.message.split('\n', 1)[0]!.replace(/[.]?$/, '.');
}
