/** The page as HTML: an empty body that `ui/main.js` fills. */

/** Nothing but files of the service itself; no text becomes markup or script, neither by mistake nor by a name in a document. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/** `folder`: path of the page's files, relative to its own address (`ui/`, or `convert/ui/` if that has no slash at its end). */
export function pageHtml(folder: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Conversion Job Service</title>
<link rel="icon" type="image/svg+xml" href="${folder}icon.svg">
<link rel="stylesheet" href="${folder}style.css">
<script type="module" src="${folder}main.js"></script>
</head>
<body>
<noscript>This page needs JavaScript. Everything on it can be had from the interface, too: see /doc.</noscript>
</body>
</html>
`;
}
