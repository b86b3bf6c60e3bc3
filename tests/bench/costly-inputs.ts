/** The most expensive inputs that a visitor can send, as far as we know, for each entrance of the server. */
import zlib from 'node:zlib'
import { actionId } from '../../src/server/routes/actions/action-id.ts'

/** The server under test. */
export interface Target {
  /** Path of the relay. */
  readonly relay: string
  /** The DSN that it accepts. */
  readonly dsn: string
  /** Paths of reports in the inbox. */
  readonly reports: readonly string[]
}

/** An expensive request. */
export interface CostlyInput {
  readonly name: string
  /** Content coding of its body, or of the requested answer. */
  readonly coding?: string
  /** The whole request in bytes. */
  readonly request: Buffer
}

const KIB = 1_024
const URL_BYTES = 8_000 // slightly below the limit
const HEADER_BYTES = 15_000

const CODINGS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => zlib.gzipSync(body, { level: 9 }),
  deflate: (body) => zlib.deflateSync(body, { level: 9 }),
  br: (body) => zlib.brotliCompressSync(body),
  zstd: (body) => zlib.zstdCompressSync(body),
}

const SIGN = `/lab/guestbook?_action=${actionId('lab/guestbook/actions.server.ts', 'sign')}`
const SIGN_DATA = `/_m/data${SIGN}`

/** A repeated text of that many bytes. */
const fill = (text: string, bytes: number): string =>
  text.repeat(Math.ceil(bytes / Buffer.byteLength(text))).slice(0, bytes)

function request(method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: Buffer): Buffer {
  const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
  const all = { Host: 'localhost', Connection: 'close', ...headers, ...length }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'),
    body ?? Buffer.alloc(0),
  ])
}

/** A body, unchanged and in each coding. */
function coded(
  name: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Buffer,
): readonly CostlyInput[] {
  return [
    { name, request: request('POST', path, headers, body) },
    ...Object.entries(CODINGS).map(([coding, encode]) => ({
      name,
      coding,
      request: request('POST', path, { ...headers, 'Content-Encoding': coding }, encode(body)),
    })),
  ]
}

const get = (name: string, path: string, headers?: Readonly<Record<string, string>>): CostlyInput => ({
  name,
  request: request('GET', path, headers),
})

function urls(): readonly CostlyInput[] {
  const paths: Readonly<Record<string, string>> = {
    'many segments': fill('/a', URL_BYTES),
    'encoded letters': `/lab/params/${fill('%61', URL_BYTES - 12)}`,
    'encoded slashes in a catch-all': `/lab/files/${fill('a%2F', URL_BYTES - 12)}`,
    'segments of a catch-all': `/lab/files${fill('/a', URL_BYTES - 12)}`,
    'encoded four bytes': `/lab/files/${fill('%F0%9F%98%80', URL_BYTES - 20)}`,
    'dot segments': fill('/a/%2e%2e', URL_BYTES),
    'many slashes': fill('/', URL_BYTES),
    'search params': `/lab/params/x?${fill('a=1&', URL_BYTES - 20)}`,
    'search params without a value': `/lab/params/x?${fill('a&', URL_BYTES - 20)}`,
    'encoded search params': `/docs?${fill('%F0%9F%98%80', URL_BYTES - 20)}=1`,
    'an alias': `/lab/alias/${fill('%61', URL_BYTES - 12)}`,
    'data of many segments': `/_m/data/lab?_segments=${fill('/%23page,', URL_BYTES - 40)}`,
    'data of an untidy path': `/_m/data${fill('//a', URL_BYTES - 20)}`,
    'a file that is not there': `/_m/assets/${fill('a', URL_BYTES - 20)}`,
    'a page of a thousand rows': '/lab/bench/table?n=1000',
    'a page of a thousand links': '/lab/bench/links?n=1000',
    'a page of more rows than there are': '/lab/bench/table?n=99999999',
  }
  return Object.entries(paths).map(([name, path]) => get(`URL: ${name}`, path))
}

function headers(): readonly CostlyInput[] {
  const values: readonly (readonly [string, string])[] = [
    ['Cookie', fill('=;', HEADER_BYTES)],
    ['Cookie', fill('a=1; ', HEADER_BYTES)],
    ['Cookie', `session=${fill('a', HEADER_BYTES)}`],
    ['Accept-Encoding', fill('br;q=0.1,', HEADER_BYTES)],
    ['Accept-Encoding', fill(' ', HEADER_BYTES)],
    ['If-None-Match', fill('"a",', HEADER_BYTES)],
    ['If-None-Match', `W/${fill('"', HEADER_BYTES)}`],
    ['Range', `bytes=${fill('0-,', HEADER_BYTES)}`],
    ['X-Forwarded-For', fill('::1,', HEADER_BYTES)],
    ['Forwarded', fill('for=a;', HEADER_BYTES)],
    ['Baggage', fill('sentry-a=%41,', HEADER_BYTES)],
    ['Sentry-Trace', fill('a-', HEADER_BYTES)],
    ['User-Agent', fill('Mozilla/5.0 bot ', HEADER_BYTES)],
    ['User-Agent', fill('a', HEADER_BYTES)],
    ['Accept-Language', fill('a;q=0.1,', HEADER_BYTES)],
  ]
  return values.map(([name, value]) =>
    get(`header: ${name}: ${value.slice(0, 14)}...`, '/lab/private', { [name]: value }),
  )
}

function forms(): readonly CostlyInput[] {
  const bytes = 160 * KIB
  const form = (name: string, body: string, path = SIGN): CostlyInput => ({
    name: `form: ${name}`,
    request: request('POST', path, { 'Content-Type': 'application/x-www-form-urlencoded' }, Buffer.from(body)),
  })
  const call = (name: string, body: string): CostlyInput => ({
    name: `JSON: ${name}`,
    request: request('POST', SIGN_DATA, { 'Content-Type': 'application/json' }, Buffer.from(body)),
  })
  const part = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
  const multipart = (name: string, body: string): CostlyInput => ({
    name: `multipart: ${name}`,
    request: request('POST', SIGN, { 'Content-Type': 'multipart/form-data; boundary=x' }, Buffer.from(body)),
  })
  const fields = Buffer.from(`name=Ann&message=${fill('x', bytes)}`)
  const json = Buffer.from(JSON.stringify({ input: { name: 'Ann', message: fill('x', bytes) } }))
  return [
    ...coded('form: compressed', SIGN, { 'Content-Type': 'application/x-www-form-urlencoded' }, fields),
    ...coded('JSON: compressed', SIGN_DATA, { 'Content-Type': 'application/json' }, json),
    form('a thousand fields', fill('a=&', 3_000)),
    form('one long field', `name=Ann&message=${fill('x', bytes)}`),
    form('combining marks', `name=Ann&message=${fill('%CC%81%CC%A3', bytes)}`),
    form('Hangul', `name=Ann&message=${fill('%E1%84%80%E1%85%A1%E1%86%A8', bytes)}`),
    form('blanks', `name=Ann&message=a${fill('+', bytes)}a`),
    form('line breaks', `name=Ann&message=${fill('%0D%0A', bytes)}`),
    form('names of many levels', fill('a[0].b[1].c[2]=&', 16_000)),
    form('indexes', Array.from({ length: 999 }, (_, at) => `a[${at}]=`).join('&')),
    call('empty objects', `[${fill('{},', bytes - 3)}1]`),
    call('numbers', `[${fill('1,', bytes - 3)}1]`),
    call('keys', `{${Array.from({ length: 12_000 }, (_, at) => `"k${at}":1`).join(',')}}`),
    call('escaped letters', `{"name":"${fill('\\u0061', bytes - (bytes % 6))}"}`),
    call('levels', fill('[', 32) + fill(']', 32)),
    call('combining marks', `{"input":{"name":"Ann","message":"${'\u0301\u0323'.repeat(bytes / 4)}"}}`),
    multipart('a thousand parts', `${part.repeat(999)}--x--\r\n`),
    multipart('almost a border', `${part.slice(0, -3)}${fill('\r\n--', bytes)}\r\n--x--\r\n`),
    multipart('line breaks', `${part.slice(0, -3)}${fill('\r\n', bytes)}\r\n--x--\r\n`),
  ]
}

function envelopes({ relay, dsn }: Target): readonly CostlyInput[] {
  const envelope = (...items: readonly (readonly [header: object, payload: string])[]): Buffer =>
    Buffer.from(
      [JSON.stringify({ dsn }), ...items.flatMap(([header, payload]) => [JSON.stringify(header), payload]), ''].join(
        '\n',
      ),
    )
  const event = (payload: string): Buffer => envelope([{ type: 'event' }, payload])
  const frames = Array.from({ length: 250 }, (_, at) => ({ filename: `/_m/assets/${at % 5}.js`, lineno: 1, colno: at }))
  const bodies: Readonly<Record<string, Buffer>> = {
    'one event': event('{"message":"x"}'),
    'one byte again and again': envelope([{ type: 'attachment' }, fill('x', 16_000_000)]),
    'empty lines': Buffer.from(`${JSON.stringify({ dsn })}${fill('\n', 16_000_000)}`),
    'a thousand items': envelope(...Array.from({ length: 1_000 }, () => [{ type: 'attachment' }, ''] as const)),
    'a message of a megabyte': event(JSON.stringify({ message: fill('x', 1_000_000) })),
    'an array of a megabyte': event(`{"message":[${fill('1,', 1_000_000)}1]}`),
    'objects of a megabyte': event(`{"extra":[${fill('{},', 999_999)}1]}`),
    levels: event(`${fill('[', 100_000)}${fill(']', 100_000)}`),
    'many frames': event(JSON.stringify({ exception: { values: [{ type: 'E', stacktrace: { frames } }] } })),
    'many breadcrumbs': event(`{"breadcrumbs":[${fill('{"message":"x"},', 999_999 - (999_999 % 16))}{}]}`),
    'no line break': Buffer.from(fill('x', 60_000)),
  }
  return Object.entries(bodies).flatMap(([name, body]) => coded(`envelope: ${name}`, relay, {}, body))
}

function policyReports({ relay }: Target): readonly CostlyInput[] {
  const body = Buffer.from(
    JSON.stringify(
      Array.from({ length: 500 }, () => ({
        type: 'csp-violation',
        url: 'http://localhost/',
        body: { blockedURL: 'x' },
      })),
    ),
  )
  return coded('policy reports', relay, { 'Content-Type': 'application/reports+json' }, body)
}

/** Answers that are large or expensive, in each coding. */
function answers({ reports }: Target): readonly CostlyInput[] {
  const paths: Readonly<Record<string, string>> = {
    'a page of a thousand rows': '/lab/bench/table?n=1000',
    'data of a thousand rows': '/_m/data/lab/bench/table?n=1000',
    'a streamed page': '/lab/stream',
    'a page of the handbook': '/docs/security',
    'search in the handbook': `/docs/search?${fill('q=the+', URL_BYTES - 20)}`,
    'a resource': '/lab/feed.json',
    'a list of reports': '/lab/reports',
    'a search in reports': '/lab/reports?q=the+wheel+row+stuck&side=browser',
    ...Object.fromEntries(reports.map((path, at) => [`report ${at + 1}`, path])),
  }
  return Object.entries(paths).flatMap(([name, path]) => [
    get(`answer: ${name}`, path),
    ...['zstd', 'br', 'gzip'].map((coding) => ({
      ...get(`answer: ${name}`, path, { 'Accept-Encoding': coding }),
      coding,
    })),
  ])
}

/** Envelopes whose reports are expensive to show: many frames in many files with source maps. */
export function costlyReports(
  { relay, dsn }: Pick<Target, 'relay' | 'dsn'>,
  scripts: readonly string[],
): readonly Buffer[] {
  const events = [1, 5, 50].map((files) => {
    const frames = Array.from({ length: 250 }, (_, at) => ({
      filename: `http://localhost/_m/assets/${scripts[at % Math.min(files, scripts.length)]}`,
      lineno: 1 + (at % 40),
      colno: at * 97,
    }))
    const values = Array.from({ length: 5 }, () => ({ type: 'E', value: `${files}`, stacktrace: { frames } }))
    const tags = Array.from({ length: 50 }, (_, at) => [`tag ${at}`, fill('x', 200)])
    return { fingerprint: [String(files)], platform: 'javascript', tags, exception: { values } }
  })
  return events.map((event) => {
    const body = [{ dsn }, { type: 'event' }, event].map((part) => JSON.stringify(part)).join('\n')
    return request('POST', relay, {}, Buffer.from(body))
  })
}

/** All inputs. */
export function costlyInputs(target: Target): readonly CostlyInput[] {
  return [...urls(), ...headers(), ...forms(), ...answers(target), ...envelopes(target), ...policyReports(target)]
}
