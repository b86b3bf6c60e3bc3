import type { RequestListener } from 'node:http'
import { withServer } from './listening.ts'
import { getRequest, requestRaw } from './raw-http.ts'
import type { RawResponse } from './raw-response.ts'

/** An answer of route data. */
interface DataResponse extends RawResponse {
  /** Its lines, parsed; nothing is checked, so that tests see what was sent. */
  readonly records: readonly Record<string, unknown>[]
}

/** Asks a server for route data over a socket: nothing on the way tidies the path. */
export function getData(
  app: RequestListener,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<DataResponse> {
  return withServer(app, async (port) => withRecords(await requestRaw(port, getRequest(path, headers))))
}

/** Reads the lines of an answer. */
function withRecords(response: RawResponse): DataResponse {
  return { ...response, records: recordsOf(response.text) }
}

/** The lines of a text that are complete, parsed. */
export function recordsOf(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))
}

/** A `_m` parameter that names a segment. */
export function wanting(...ids: readonly string[]): string {
  return ids.map((id) => `_m=${encodeURIComponent(id)}`).join('&')
}
