/** A file of a watch that is another one by now: the job loads nothing, and the watch takes the file as it is then. */
import { InputError } from '../../engine/diagnostics.ts';
import { changedFileCode } from '../../watches/settle.ts';

export function changedFile(name: string): InputError {
  return new InputError({
    code: changedFileCode,
    severity: 'error',
    file: name,
    message: 'changed after the watch had noticed it, so nothing was loaded',
  });
}
