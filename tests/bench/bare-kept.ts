/**
 * What kept pages are measured against: an Express server that ends a Buffer. It has the headers and the body of our
 * answer from a file, and writes one log line for each request.
 */
import { readFileSync } from 'node:fs'
import express from 'express'

/** An answer in a file. */
interface StoredAnswer {
  readonly headers: readonly string[]
  /** Base64. */
  readonly body: string
}

const FLUSH_AT = 4_096 // characters: a write for each line would be most of what this server does

const stored = JSON.parse(readFileSync(process.env['ANSWER'] ?? '', 'utf8')) as StoredAnswer
const body = Buffer.from(stored.body, 'base64')
const headers = [...stored.headers]
let lines = ''

const app = express().disable('x-powered-by').disable('etag')
app.get('/*path', (request, response) => {
  const startedAt = performance.now()
  response.writeHead(200, headers)
  response.end(body)
  response.once('finish', () => {
    lines += `${JSON.stringify({ level: 30, time: Date.now(), method: request.method, route: request.path, status: 200, durationMs: performance.now() - startedAt, bytes: body.length })}\n`
    if (lines.length < FLUSH_AT) return
    process.stdout.write(lines)
    lines = ''
  })
})

const server = app.listen(Number(process.env['PORT']), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})
