/**
 * A document for when the application cannot render one: its scripts show the failure and wait for the next successful
 * build.
 * @param devClient URL of the development server's script for pages.
 */
export function failurePage(devClient: string): string {
  return `<!doctype html>
<html lang="en" data-millrace-failed>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Development server: failed</title>
<script type="module" src="${devClient}"></script>
</head>
<body>
<noscript>The application has failed; the terminal of the development server says how.</noscript>
</body>
</html>
`
}
