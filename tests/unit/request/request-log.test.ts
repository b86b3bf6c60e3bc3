import { pino } from 'pino'
import { expect, test } from 'vitest'
import {
  requestLogInDevelopment,
  requestLogThrough,
  requestLogTo,
  type LoggedRequest,
  type RequestLine,
} from '../../../src/server/request/request-log.ts'

const LINE: RequestLine = {
  requestId: 'from-proxy.1',
  traceId: undefined,
  method: 'GET',
  route: '/mills/[id]',
  status: 200,
  durationMs: 1.5,
  bytes: 700,
  aborted: false,
  refused: undefined,
  cache: undefined,
  late: undefined,
  kind: 'document',
}

/** Its URL is in no line of a server in production. */
const REQUEST: LoggedRequest = { req: { url: '/mills/7?token=secret' }, data: undefined }

/** What both ways to write a line say, parsed. */
function written(line: Partial<RequestLine>): readonly unknown[] {
  const lines: string[] = []
  const destination = { write: (text: string) => void lines.push(text) }
  const log = pino({ base: null }, destination)
  requestLogTo(destination, log)({ ...LINE, ...line }, REQUEST)
  requestLogThrough(log)({ ...LINE, ...line }, REQUEST)
  expect(lines.every((text) => text.endsWith('\n') && text.indexOf('\n') === text.length - 1)).toBe(true)
  return lines.map((text) => ({ ...(JSON.parse(text) as object), time: 0 }))
}

test.for<Partial<RequestLine>>([
  {},
  { traceId: '0123456789abcdef0123456789abcdef' },
  { route: undefined, status: 0, aborted: true },
  // An application's own words: the source of a rule is a pattern.
  { refused: 'the redirect /old/:id(\\d+)/"x" cannot be filled in\n' },
  { route: '/"quoted"\\[id]', method: 'M-"SEARCH' },
])('%j is one line of JSON, the same by hand as by the logger', (line) => {
  const [byHand, byLogger] = written(line)
  expect(byHand).toEqual(byLogger)
  const { aborted, refused, traceId, kind: _, route = null, ...rest } = { ...LINE, ...line }
  expect(byHand).toEqual({
    level: 30,
    time: 0,
    ...rest,
    route,
    ...(traceId === undefined ? {} : { traceId }),
    ...(aborted ? { aborted } : {}),
    ...(refused === undefined ? {} : { refused }),
  })
})

test('nothing is written below the level of the log', () => {
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (text: string) => void lines.push(text) })
  requestLogTo({ write: (text) => void lines.push(text) }, log)(LINE, REQUEST)
  expect(lines).toEqual([])
})

test('a line in development has the start of the URL, the kind, and the status of a late failure', () => {
  const lines: string[] = []
  const log = pino({ base: null }, { write: (text: string) => void lines.push(text) })
  const write = requestLogInDevelopment(log)
  write(LINE, REQUEST)
  write(LINE, { ...REQUEST, req: { url: `/${'x'.repeat(1_000)}` } })
  write({ ...LINE, kind: 'data' }, { ...REQUEST, data: { build: 'b', lateStatus: 500 } })
  const written = lines.map((text) => JSON.parse(text) as { url: string; kind: string; lateStatus?: number })
  expect(written.slice(0, 2).map(({ url }) => url)).toEqual([REQUEST.req.url, `/${'x'.repeat(299)}`])
  expect(written.map(({ kind, lateStatus }) => [kind, lateStatus])).toEqual([
    ['document', undefined],
    ['document', undefined],
    ['data', 500],
  ])
})
