import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBody } from '../../../src/server/http/body/read-body.ts'
import { BodyError } from '../../../src/server/http/body/body-error.ts'
import type { BodyLimits } from '../../../src/server/http/body/body-limits.ts'
import type { FormBody, JsonBody } from '../../../src/server/http/body/read-body.ts'
import { withServer } from '../../support/listening.ts'
import { requestRaw, type SendOptions } from '../../support/raw-http.ts'

/** Limits that no ordinary test reaches. */
export const AMPLE: BodyLimits = {
  bytes: 1_000_000,
  files: 10,
  fileBytes: 1_000_000,
  timeoutMs: 5_000,
  streamed: false,
}

/** How a body was taken. */
export type Taken = { readonly body: FormBody | JsonBody } | { readonly fault: unknown }

/** Runs a server that hands each body over, and answers when `take` is done. */
export function withBodies<Result>(
  limits: BodyLimits,
  take: (taken: Taken, req: IncomingMessage, res: ServerResponse) => unknown,
  work: (port: number) => Promise<Result>,
): Promise<Result> {
  return withServer((req, res) => {
    const gone = new AbortController()
    res.once('close', () => gone.abort(new Error('gone')))
    void readBody(req, limits, gone.signal)
      .then(
        (body): Taken => ({ body }),
        (fault: unknown): Taken => ({ fault }),
      )
      .then((taken) => take(taken, req, res))
      .then(() => res.end())
  }, work)
}

/** Sends one body over a socket of its own, and gives what was made of it. */
export async function takeBody(
  contentType: string,
  body: string | Uint8Array,
  { every, headers = {}, ...limits }: Partial<BodyLimits> & SendOptions & { headers?: Record<string, string> } = {},
): Promise<Taken> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.from(body)
  const lines = { Host: 'a', 'Content-Type': contentType, 'Content-Length': String(bytes.length), ...headers }
  const head = Object.entries(lines).map(([name, value]) => (value === '' ? '' : `${name}: ${value}\r\n`))
  let taken: Taken | undefined
  await withBodies(
    { ...AMPLE, ...limits },
    (result, _req, res) => {
      taken = result
      res.shouldKeepAlive = false
    },
    (port) =>
      requestRaw(
        port,
        Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\n${head.join('')}\r\n`), bytes]),
        every === undefined ? {} : { every },
      ),
  )
  return taken ?? { fault: new Error('never taken') }
}

/** The status of a refusal; `'taken'` for none. Anything but a `BodyError` is thrown on. */
export function statusOf(taken: Taken): number | 'taken' {
  if (!('fault' in taken)) return 'taken'
  if (taken.fault instanceof BodyError) return taken.fault.status
  throw taken.fault
}

/** A part of a multipart body of boundary `x`. */
export function part(head: string, content: string): string {
  return `--x\r\n${head}\r\n\r\n${content}\r\n`
}

/** The head of a field, or of a file. */
export function disposition(name: string, filename?: string): string {
  return `Content-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}`
}

/** The end of a multipart body of boundary `x`. */
export const FINAL = '--x--\r\n'

/** The media type of a multipart body of boundary `x`. */
export const MULTIPART = 'multipart/form-data; boundary=x'

/** The media type of plain forms. */
export const URLENCODED = 'application/x-www-form-urlencoded'
