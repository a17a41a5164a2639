/** The error for a file of a watch that has changed: the job loads nothing, and the watch takes the file's new version. */
import { InputError } from '../engine/diagnostics.ts';
import { changedFileCode } from '../service/watches/turn.ts';

export function changedFile(name: string): InputError {
  return new InputError({
    code: changedFileCode,
    severity: 'error',
    file: name,
    message: 'the file changed after the watch had listed it, so nothing was loaded',
  });
}
