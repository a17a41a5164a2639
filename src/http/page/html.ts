/** The page as HTML: an empty body that the modules below `ui/` fill. */
import { packedFiles } from './packed-files.ts';

/** Nothing but files of the service itself; no text becomes markup or script, neither by mistake nor by a name in a document. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

const startModule = 'main.js';

/**
 * `folder`: where the page's files are, seen from its own address (`ui/`, or `convert/ui/` where that has no slash at its end).
 * Modules are named in the head, so that a browser asks for all of them at once.
 */
export function pageHtml(folder: string): string {
  const names = Object.keys(packedFiles);
  const links = [
    ...names
      .filter((name) => name.endsWith('.css'))
      .map((name) => `<link rel="stylesheet" href="${folder}${name}">`),
    ...names
      .filter((name) => name.endsWith('.js') && name !== startModule)
      .map((name) => `<link rel="modulepreload" href="${folder}${name}">`),
  ];
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Conversion Job Service</title>
<link rel="icon" type="image/svg+xml" href="${folder}icon.svg">
${links.join('\n')}
<script type="module" src="${folder}${startModule}"></script>
</head>
<body>
<noscript>This page needs JavaScript. Everything on it can be had from the interface, too: see /doc.</noscript>
</body>
</html>
`;
}
