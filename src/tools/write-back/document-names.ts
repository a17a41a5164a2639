/** Names of documents as names of files: below the folder, on every system, each once. */

const maxNameBytes = 200;

/**
 * A relative path that every system can have and that stays below the folder: names came from documents, so parts that lead
 * upwards go, and characters with a meaning of their own become an underscore.
 */
export function safeName(name: string): string {
  const parts = name
    .split(/[/\\]/)
    .map((part) =>
      part
        // oxlint-disable-next-line no-control-regex
        .replace(/[\u0000-\u001f\u007f<>:"|?*]/g, '_')
        .replace(/[. ]+$/, '')
        .replace(/^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))/i, '_'),
    )
    .filter((part) => part !== '' && part !== '.' && part !== '..');
  return parts.length === 0 ? 'document.xml' : parts.map(shortened).join('/');
}

/** A hidden name would be passed over by who reads the folder. */
function shortened(part: string): string {
  const visible = part.startsWith('.') ? `_${part.slice(1)}` : part;
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(visible)?.[0] ?? '';
  let stem = visible.slice(0, visible.length - extension.length);
  while (Buffer.byteLength(stem) + extension.length > maxNameBytes) stem = [...stem].slice(0, -1).join('');
  return stem + extension;
}

/** Returns an unused name: names that differ in case alone would collide on some systems. */
export function unusedName(name: string, taken: Set<string>): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  const stem = name.slice(0, name.length - extension.length);
  let candidate = name;
  for (let number = 2; taken.has(candidate.toLowerCase()); number += 1)
    candidate = `${stem}-${number}${extension}`;
  taken.add(candidate.toLowerCase());
  return candidate;
}
