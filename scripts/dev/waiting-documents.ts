import type { IncomingMessage, ServerResponse } from 'node:http'

/** Documents that browsers wait for. */
export interface WaitingDocuments {
  add(request: IncomingMessage, response: ServerResponse): void
  /**
   * Answers all that have no answer yet by a page that loads itself again as soon as the next server answers: a cut
   * connection would leave the browser's own error page, which never does.
   */
  answer(): Promise<void>
}

/** @param settled URL path that is answered once a server is there, with the base path. */
export function waitingDocuments(settled: () => string): WaitingDocuments {
  const waiting = new Set<ServerResponse>()
  return {
    add(request, response) {
      if (request.method !== 'GET' || request.headers['sec-fetch-dest'] !== 'document') return
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
    },
    async answer() {
      const unanswered = [...waiting].filter(({ headersSent }) => !headersSent)
      await Promise.all(unanswered.map((response) => answerRestart(response, settled())))
    },
  }
}

function answerRestart(response: ServerResponse, settled: string): Promise<void> {
  response.writeHead(503, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close',
  })
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.end(restartPage(settled))
  })
}

const RETRY_MS = 250

function restartPage(settled: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Development server: restarting</title>
<script type="module">
const again = () => fetch(${JSON.stringify(settled)}).then(
  () => location.reload(),
  () => setTimeout(again, ${RETRY_MS}),
)
setTimeout(again, ${RETRY_MS})
</script>
</head>
<body>
<p>The development server restarts. This page loads again when it answers.</p>
</body>
</html>
`
}
