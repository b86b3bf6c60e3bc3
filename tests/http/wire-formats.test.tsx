/** `docs/wire-formats.md`: each exchange is made here, and each name is one of the sources. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseModule, nameOf, nodesOf } from '../../scripts/build/project/syntax-tree.ts'
import { eventStream } from '../../src/server/api/event-stream.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { cacheStatus, type KeptStatus } from '../../src/server/request/answer/cache-status.ts'
import { sealedCookieName } from '../../src/server/secrets/sealed-cookie.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import * as calls from '../../src/shared/protocol/action-call.ts'
import { DROPS_EVENT } from '../../src/shared/protocol/drops-event.ts'
import * as hydration from '../../src/shared/protocol/hydration-data.ts'
import * as routeData from '../../src/shared/protocol/route-data.ts'
import { HEALTH_PATHS } from '../../src/shared/runtime-paths.ts'
import { withServer } from '../support/listening.ts'
import { requestRaw } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const ROOT = join(import.meta.dirname, '../..')
const chapter = readFileSync(join(ROOT, 'docs/wire-formats.md'), 'utf8')
const BLOCKS = [...chapter.matchAll(/^```http\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text)

/** The application of the exchanges. */
function mills() {
  const rename = action({ input: z.object({ name: z.string().min(1, 'is empty') }), handler: () => undefined })
  const loader = () => ({ name: 'Old Mill', built: new Date(0), visits: Promise.resolve(12) })
  const GET = () =>
    eventStream(
      ({ send, end }) => {
        send({ id: '7', event: 'changed', data: { id: 7 } })
        end()
      },
      { revalidate: ['mills'] },
    )
  return tinyApp({
    routes: {
      '/mills/[id]': { page: page(() => <h1>Mill</h1>), loader: moduleOf({ loader }) },
      '/events': { handler: moduleOf({ GET }) },
    },
    rules: { redirects: [{ source: '/former', destination: '/mills/7', permanent: false }] },
    actions: { 'actions.server.ts': { rename } },
  }).app
}

/** What differs from one server to the next. */
function plain(text: string): string {
  return text
    .replaceAll(/"build":"[^"]*"/g, '"build":"…"')
    .replaceAll(/\b\d{16}\b/g, '0')
    .replace(/^retry: \d+/m, 'retry: 0')
    .trim()
}

/** Start line, headers and body of a message. */
function partsOf(message: string) {
  const [, head = '', body = ''] = /^([\s\S]*?)(?:\n\n([\s\S]*))?$/.exec(message.trim()) ?? []
  const [start = '', ...lines] = head.split('\n')
  return { start, headers: lines.map((line) => line.split(': ') as [string, string]), body }
}

test('the server answers as the chapter says', async () => {
  const exchanges = Map.groupBy(BLOCKS.entries(), ([at]) => Math.floor(at / 2))
  expect(exchanges.size).toBe(5)
  await withServer(mills(), async (port) => {
    for (const [[, asked = ''] = [], [, answered = ''] = []] of exchanges.values()) {
      const { start, headers, body } = partsOf(asked)
      const length = body === '' ? [] : [`Content-Length: ${body.length}`]
      const lines = [start, ...headers.map((pair) => pair.join(': ')), ...length, 'Connection: close', '', body]
      const answer = await requestRaw(port, lines.join('\r\n'))
      const expected = partsOf(answered)
      expect(expected.start).toContain(` ${answer.status} `)
      for (const [name, value] of expected.headers) {
        const sent = answer.headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1]
        expect(sent).toEqual(name === routeData.BUILD_HEADER ? expect.any(String) : value)
      }
      expect(plain(answer.text)).toBe(plain(expected.body))
    }
  })
})

test('the paths of the runtime are those of the sources', () => {
  const paths = firstCells('path').map((path) => path.replaceAll('*', ''))
  const known = ['/_m/assets/', `${routeData.ROUTE_DATA_PREFIX}/`, '/_m/build.json', '/_m/reports/', ...HEALTH_PATHS]
  expect(paths).toEqual(known)
  expect(derivedTunnelPath('')).toContain('/_m/reports/')
  expect(chapter).toContain(`\`${sealedCookieName('session', {})}\``)
})

test('headers of requests have the effect of the table', async () => {
  await withServer(mills(), async (port) => {
    const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
      const lines = Object.entries({ Host: 'a', Connection: 'close', ...headers }).map((pair) => pair.join(': '))
      return requestRaw(port, [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
    }
    const [call = ''] = /_action=\w{8,}/.exec(chapter) ?? []
    const empty = { 'Content-Length': '0' }
    const other = await ask('/_m/data/mills/7', { 'X-Millrace-Build': 'other' })
    const own = await ask('/_m/data/mills/7')
    const foreign = await ask(`/mills/7?${call}`, { ...empty, 'Sec-Fetch-Site': 'cross-site' }, 'POST')
    const ofOrigin = await ask(`/mills/7?${call}`, { ...empty, Origin: 'https://other.example' }, 'POST')
    const unknown = await ask('/_m/nothing')
    const build = await ask('/_m/build.json')
    expect([other, own, foreign, ofOrigin, unknown].map(({ status }) => status)).toEqual([409, 200, 403, 403, 404])
    expect(own.headers.find(([name]) => name === 'Vary')?.[1]).toContain('X-Millrace-Build')
    expect(JSON.parse(build.text)).toEqual({ buildId: expect.any(String) })
  })
})

/** Members of interfaces, in their order. */
function membersOf(file: string, ...interfaces: readonly string[]): readonly string[] {
  const tree = parseModule(file, readFileSync(join(ROOT, 'src/shared/protocol', file), 'utf8'))
  const declared = tree === undefined ? [] : [...nodesOf(tree)].filter(({ type }) => type === 'TSInterfaceDeclaration')
  return interfaces.flatMap((name) => {
    const found = declared.find((node) => nameOf(node['id']) === name)
    return found === undefined
      ? []
      : [...nodesOf(found)].flatMap((node) => (node.type === 'TSPropertySignature' ? (nameOf(node['key']) ?? []) : []))
  })
}

/** The first cells of a table by its first heading, or others of rows that begin with a word. */
function firstCells(heading: string): readonly string[] {
  const [, rows = ''] = new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\|\\n((?:\\|.*\\n)+)`, 'm').exec(chapter) ?? []
  return [...rows.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell)
}

const rowsOf = (word: string): readonly string[] =>
  [...chapter.matchAll(new RegExp(`^\\| ${word} \\| \`([^\`]+)\``, 'gm'))].map(([, name = '']) => name)

test('the tables have each member of the formats, and no other', () => {
  expect(rowsOf('head').toSorted()).toEqual(membersOf('route-data.ts', 'RouteDataHead').toSorted())
  expect(rowsOf('segment').toSorted()).toEqual(membersOf('route-data.ts', 'SegmentRecord', 'SegmentMeta').toSorted())
  expect(firstCells('member').toSorted()).toEqual(membersOf('action-call.ts', 'ActionAnswer').toSorted())
})

test('names and versions are those of the sources', () => {
  const named = [
    ...Object.values({ ...calls, ...hydration }).filter((value) => typeof value === 'string' && !value.includes('>')),
    routeData.ROUTE_DATA_TYPE,
    routeData.BUILD_HEADER,
    routeData.PURPOSE_HEADER,
    DROPS_EVENT,
    `head of data is ${routeData.ROUTE_DATA_VERSION}, and in hydration data ${hydration.HYDRATION_DATA_VERSION}.`,
  ]
  expect(named.length).toBeGreaterThan(12)
  expect(named.filter((name) => !chapter.includes(String(name)))).toEqual([])
  const values = readFileSync(join(ROOT, 'src/shared/protocol/value-stream.ts'), 'utf8')
  const [, tags = ''] = /export type NodeTag =\n(.*)\n/.exec(values) ?? []
  const missing = [...tags.matchAll(/'(\w+)'/g)].map(([, tag]) => tag).filter((tag) => !chapter.includes(`\`${tag}\``))
  expect([tags.length > 50, missing]).toEqual([true, []])
})

test('Cache-Status is as the table shows it', () => {
  const made: readonly KeptStatus[] = [
    { kind: 'hit', ttl: 42 },
    { kind: 'stale', ttl: -3 },
    { kind: 'miss', stored: true, collapsed: false, ttl: 60 },
    { kind: 'miss', stored: true, collapsed: true, ttl: 60 },
    { kind: 'bypass', reason: 'cookie user' },
  ]
  expect(firstCells('`Cache-Status` \\(RFC 9211\\)')).toEqual(
    made.map((status) => cacheStatus(status).replace('Millrace; ', '')),
  )
})
