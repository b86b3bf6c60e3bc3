import { createServer, type RequestListener } from 'node:http'
import { listeningOn, type ListeningServer } from './listening.ts'

/** Headers of one connection, and the policy: tests add styles. */
const NOT_PASSED = new Set([
  'connection',
  'content-length',
  'content-security-policy',
  'keep-alive',
  'transfer-encoding',
])

/**
 * An address whose documents are what a browser without scripts makes of a server's: without `script`, and with the
 * content of `noscript`. For engines in which tests cannot switch scripts off and still look at the page.
 * @param change makes another document of it.
 */
export function openWithoutScripts(
  { port }: { readonly port: number },
  change = (html: string, _url: string): string => html,
): Promise<ListeningServer> {
  const answer: RequestListener = async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const { host: _host, connection: _connection, origin: _origin, ...headers } = req.headers
    const response = await fetch(`http://127.0.0.1:${port}${req.url}`, {
      method: req.method ?? 'GET',
      headers: {
        ...(headers as Record<string, string>),
        'accept-encoding': 'identity',
        'sec-fetch-site': 'same-origin',
      },
      redirect: 'manual',
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    })
    res.statusCode = response.status
    for (const [name, value] of response.headers) if (!NOT_PASSED.has(name)) res.appendHeader(name, value)
    const body = Buffer.from(await response.arrayBuffer())
    res.end(
      response.headers.get('content-type')?.startsWith('text/html')
        ? change(plain(body.toString()), req.url ?? '')
        : body,
    )
  }
  return listeningOn(createServer((req, res) => void answer(req, res)))
}

function plain(html: string): string {
  return html.replaceAll(/<script\b.*?<\/script>/gs, '').replaceAll(/<\/?noscript>/g, '')
}
