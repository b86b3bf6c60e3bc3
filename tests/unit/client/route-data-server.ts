import {
  BUILD_HEADER,
  PURPOSE_HEADER,
  ROUTE_DATA_PREFIX,
  ROUTE_DATA_TYPE,
  SEGMENTS_PARAM,
} from '../../../src/shared/protocol/route-data.ts'

/** The build that the world's client is of. */
export const BUILD = 'b1'

export const ORIGIN = 'https://millrace.test'

/** A request that the client has sent, and the server's end of it. */
export interface SentRequest {
  /** Path and query of the page, without the segments that are asked for. */
  readonly href: string
  /** `undefined` for all. */
  readonly wants: readonly string[] | undefined
  readonly prefetch: boolean
  /** As `fetch` was given it. */
  readonly init: RequestInit
  readonly aborted: boolean
  /** Begins the answer: status and headers. Default: 200 of the client's build. */
  open(status?: number, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Sends lines of the answer, which is begun with a 200 if it has not been. */
  send(...records: readonly object[]): Promise<void>
  /** The last line, and the end. */
  done(...records: readonly object[]): Promise<void>
  /** The answer ends in order, without its last line. */
  cutOff(): Promise<void>
  /** The connection breaks. */
  fail(): Promise<void>
}

/** The first line of an answer. */
export function head(route: string | null, more: object = {}): object {
  return { v: 1, build: BUILD, route, scope: 'path', ...more }
}

/** An answer that leads elsewhere. */
export function redirectTo(to: string): object {
  return { v: 1, build: BUILD, redirect: { to } }
}

/** A segment with plain data. */
export function segment(id: string, data: unknown, more: object = {}): object {
  return { segment: id, data, ...more }
}

/** A segment whose data has a promise `late`. Its value comes with `lateValue`. */
export function deferredSegment(id: string, more: object = {}): readonly object[] {
  return [
    { segment: id, stream: 0, ...more },
    { chunk: 0, text: '[[0],{"data":[1]},{"late":[2]},["Promise"]]\n' },
  ]
}

/** What `deferredSegment` has promised. */
export function lateValue(value: string): readonly object[] {
  return [{ chunk: 0, text: `[2,1,${JSON.stringify(value)}]\n` }, { end: 0 }]
}

/** Head and data of a page that has nothing but its own segment. */
export function pageOf(href: string, data: unknown = href): readonly object[] {
  return [head(href), segment(`${href}#page`, data)]
}

/** Lets everything happen that waits for nothing from outside: promises and streams. Timers stand still. */
export async function flush(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** The fake server: requests in the order in which they came. With `deaf` an abort does not reach it. */
export function createServer(deaf = false) {
  const requests: SentRequest[] = []
  const encoder = new TextEncoder()

  const fetch = (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(String(input), ORIGIN)
    const wants = url.searchParams.has(SEGMENTS_PARAM)
      ? url.searchParams.getAll(SEGMENTS_PARAM).filter((id) => id !== '')
      : undefined
    url.searchParams.delete(SEGMENTS_PARAM)
    const { signal } = init
    const answer = Promise.withResolvers<Response>()
    const pipe = new TransformStream<Uint8Array, Uint8Array>(undefined, undefined, { highWaterMark: 100 })
    const writer = pipe.writable.getWriter()
    writer.closed.catch(() => undefined)
    const write = (text: string): void => void writer.write(encoder.encode(text)).catch(() => undefined)
    const breakOff = (reason: unknown): void => {
      answer.reject(reason)
      writer.abort(reason).catch(() => undefined)
    }
    const state = { open: false }
    const open = (status = 200, headers: Readonly<Record<string, string>> = {}): void => {
      if (state.open) return
      state.open = true
      const own = { 'Content-Type': ROUTE_DATA_TYPE, [BUILD_HEADER]: BUILD, ...headers }
      answer.resolve(new Response(pipe.readable, { status, headers: own }))
    }
    if (!deaf) signal?.addEventListener('abort', () => breakOff(signal.reason))
    const send = (records: readonly object[]): void => {
      open()
      for (const record of records) write(`${JSON.stringify(record)}\n`)
    }
    requests.push({
      href: url.pathname.slice(ROUTE_DATA_PREFIX.length) + url.search,
      wants,
      prefetch: new Headers(init.headers).has(PURPOSE_HEADER),
      init,
      get aborted() {
        return signal?.aborted ?? false
      },
      open(status, headers) {
        open(status, headers)
        return flush()
      },
      send(...records) {
        send(records)
        return flush()
      },
      done(...records) {
        send([...records, { done: true }])
        writer.close().catch(() => undefined)
        return flush()
      },
      cutOff() {
        writer.close().catch(() => undefined)
        return flush()
      },
      fail() {
        breakOff(new TypeError('fetch failed'))
        return flush()
      },
    })
    return answer.promise
  }

  return { requests, fetch }
}
