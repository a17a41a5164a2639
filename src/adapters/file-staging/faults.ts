/** Faults of the file system (full disk, missing rights, too many files) as errors of the service. */
import { AppError, isDiskFull } from '../../errors.ts';

const full = 'the disk is full; make room there and run the job again, or name another place';
const tooManyFiles = 'too many files are open on this machine; run the job again later, or raise the limit';
/** Faults that may pass, each with advice for the meantime. */
const passing: Readonly<Record<string, string>> = {
  ENOSPC: full,
  EDQUOT: full,
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  EIO: 'its disk does not work now',
  ESTALE: 'its file system was mounted anew meanwhile; run the job again',
};
const noRight = 'this user has no right to it; give it the right, or name another place';
/** Faults of the place, each with advice. */
const refused: Readonly<Record<string, string>> = {
  EACCES: noRight,
  EPERM: noRight,
  EROFS: 'its file system is read-only; name another place',
  ENOTDIR: 'a file stands where a folder is needed; name another folder',
  EEXIST: 'a file stands where a folder is needed; name another folder',
  EISDIR: 'a folder stands where a file is needed; name a file in it',
  ENOENT: 'nothing can be made there, as the folder is not there or a link leads nowhere; name another place',
  ENAMETOOLONG: 'the name is too long; name a shorter one',
  ELOOP: 'a link stands in the way; name the folder itself',
};

/** Faults of a folder that is only read: no file but a lock is created there. */
const unreadable: Readonly<Record<string, string>> = {
  EROFS:
    'it is locked while it is read, and its file system is read-only; copy it to another place, and name that',
  ENOENT: 'it, or a file of it, is not there; name where it is now',
};

/** Codes of faults that DuckDB reports in the system's words. */
const codesOfDuckDb: Readonly<Record<string, string>> = {
  'Is a directory': 'EISDIR',
  'Permission denied': 'EACCES',
  'Read-only file system': 'EROFS',
};

/** Faults of the file system and of DuckDB become AppErrors; others stay as they are. */
export function fileFault(error: unknown, label: string, what: 'written' | 'read' = 'written'): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const code = 'code' in error ? String(error.code) : '';
  if (Object.hasOwn(passing, code)) {
    return new AppError('service_unavailable', `${label}: cannot be ${what}: ${passing[code]} (${code}).`, {
      cause: error,
      ...(isDiskFull(error) ? { outage: { of: 'room' } } : {}),
    });
  }
  const told = (what === 'read' ? unreadable[code] : undefined) ?? refused[code];
  if (Object.hasOwn(refused, code)) {
    return new AppError('target_not_allowed', `${label}: cannot be ${what}: ${told} (${code}).`, {
      cause: error,
    });
  }
  const refusal = /^IO Error: .*(Is a directory|Permission denied|Read-only file system)/.exec(
    error.message,
  )?.[1];
  if (refusal !== undefined) {
    const why = refused[codesOfDuckDb[refusal]!];
    return new AppError('target_not_allowed', `${label}: cannot be ${what}: ${why}.`, { cause: error });
  }
  if (/No space left on device|Out of Memory Error|failed to offload|could not write/i.test(error.message)) {
    return new AppError('service_unavailable', `${label}: ${firstLine(error)}`, {
      cause: error,
      ...(error.message.includes('No space left on device') ? { outage: { of: 'room' } } : {}),
    });
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
