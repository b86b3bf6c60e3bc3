import type { IncomingMessage, ServerResponse } from 'node:http'

/** Documents that browsers wait for. */
interface WaitingDocuments {
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
      const page = waitingPage({ title: 'The development server restarts', text: '', settled: settled() })
      const unanswered = [...waiting].filter(({ headersSent }) => !headersSent)
      await Promise.all(unanswered.map((response) => sendUnavailable(response, page)))
    },
  }
}

/**
 * As documents of applications have it by default. Where it differs from that of the page before, browsers forget the state of
 * the history entry, and typed text with it.
 */
export const OPENER_POLICY = { 'Cross-Origin-Opener-Policy': 'same-origin' }

const UNAVAILABLE = 503
const RETRY_MS = 250

/** Answers while there is no server. Resolves when it is sent. */
export function sendUnavailable(
  response: ServerResponse,
  body: string,
  type: 'text/html' | 'text/plain' = 'text/html',
): Promise<void> {
  response.writeHead(UNAVAILABLE, {
    'Content-Type': `${type}; charset=utf-8`,
    'X-Content-Type-Options': 'nosniff',
    ...OPENER_POLICY,
    'Cache-Control': 'no-store',
    Connection: 'close',
  })
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.end(body)
  })
}

/** Style of a page that has nothing but a text. */
export const TEXT_STYLE = `<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 50rem; padding: 0 1rem }
pre { overflow-wrap: anywhere; white-space: pre-wrap }
</style>`

/** Markup of a text; empty without one. */
export function preformatted(text: string): string {
  return text === '' ? '' : `<pre>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`
}

/** What a page shows while it waits. */
interface WaitingPage {
  /** Why there is no server. */
  readonly title: string
  /** Details; may be empty. */
  readonly text: string
  /** URL path to ask for. Until a server is there, its answer is 503, with the newest details. */
  readonly settled: string
}

/** A page that loads itself again once a development server answers, or has other details to tell. */
export function waitingPage({ title, text, settled }: WaitingPage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
${TEXT_STYLE}
<script type="module">
const shown = document.querySelector('pre')?.textContent ?? ''
const wait = () => setTimeout(ask, ${RETRY_MS})
async function ask() {
  const answer = await fetch(${JSON.stringify(settled)}).catch(() => undefined)
  const isSame = answer?.status === ${UNAVAILABLE} && (await answer.text()) === shown
  if (answer === undefined || isSame) wait()
  else location.reload()
}
wait()
</script>
</head>
<body>
<p>${title}. This page loads again when it answers.</p>
${preformatted(text)}
</body>
</html>
`
}
