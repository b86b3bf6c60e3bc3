/**
 * Asks the server in this container how it is: `node health-check.mjs [path]`, `/healthz` unless told. Ends with code 0
 * for a 200 and 1 for all else, so that a health check needs no shell and no curl.
 */
import { get } from 'node:http'

const LIMIT_MS = 3_000 // below the time-out of the health check, so that the reason is printed

const { PORT, HOST } = process.env
const everywhere = new Map([
  ['', '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])
const host = everywhere.get(HOST ?? '') ?? HOST
const path = process.argv[2] ?? '/healthz'

const request = get({ host, port: PORT || 3000, path, agent: false, timeout: LIMIT_MS }, (response) => {
  response.resume()
  if (response.statusCode !== 200) fail(`status ${response.statusCode}`)
})
request.on('timeout', () => request.destroy(new Error(`no answer within ${LIMIT_MS} ms`)))
request.on('error', (error) => fail(error.message))

function fail(reason) {
  process.stderr.write(`${path}: ${reason}\n`)
  process.exitCode = 1
}
