/** Hides this machine's paths in messages that an organisation reads: its own files are named as it names them. */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installation } from '../installation.ts';
import type { Home } from './home.ts';

const installed = fileURLToPath(installation).replace(/\/$/, '');

/** `encode`: converts a path to its form in the text, if the text is not plain. */
export function createPathMask(
  home: Pick<Home, 'directory' | 'filesDirectory'>,
  idOrg: number,
  encode: (path: string) => string = (path) => path,
): (text: string) => string {
  const forms = (path: string): string[] => [...new Set([path, real(path)])].map(encode);
  const below = (path: string, shown: string): (readonly [RegExp, string])[] =>
    forms(path).flatMap((form) => [
      [new RegExp(`${escaped(form)}/+`, 'g'), shown === '' ? '' : `${shown}/`] as const,
      [new RegExp(`${escaped(form)}(?![\\w.-])`, 'g'), shown === '' ? '.' : shown] as const,
    ]);
  const hidden = [
    ...below(`${home.filesDirectory}/${idOrg}`, ''),
    ...below(home.directory, '$SVC_HOME'),
    ...below(installed, '…'),
  ];
  return (text) => hidden.reduce((rest, [path, shown]) => rest.replace(path, () => shown), text);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // made with the organisation's first file
    return path;
  }
}

function escaped(path: string): string {
  return path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
