import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as another origin got it. */
interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Another origin on loopback that writes down what reaches it. */
export interface RecordingUpstream extends AsyncDisposable {
  readonly port: number
  readonly received: readonly RecordedRequest[]
  /** Gives what was received so far and forgets it. */
  take(): readonly RecordedRequest[]
}

/** Answers every request with 200 and `upstream`. */
export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const received: RecordedRequest[] = []
  const server = createServer((req, res) => {
    let body = ''
    req.setEncoding('latin1').on('data', (text: string) => (body += text))
    req.on('end', () => {
      received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.headers, body })
      res.end('upstream')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    port: (server.address() as AddressInfo).port,
    received,
    take: () => received.splice(0),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
