import { describe, expect, test } from 'vitest'
import { listenFault } from '../../../scripts/command/dev-listening.ts'
import { forwardedHeaders } from '../../../scripts/dev/forwarded-headers.ts'
import { isKnownHost, LOCAL_ONLY } from '../../../scripts/dev/local-hosts.ts'
import { createModuleUrls } from '../../../scripts/dev/module-urls.ts'
import { errorOf, parseLogLine, readableLine } from '../../../scripts/dev/readable-log.ts'
import { describeFrames, parseStack } from '../../../scripts/dev/stack-frames.ts'

test.for([
  ['localhost', true],
  ['LOCALHOST:3000', true],
  ['app.localhost:3000', true],
  ['127.0.0.1:3000', true],
  ['[::1]:3000', true],
  [undefined, false],
  ['', false],
  ['evil.example', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['192.168.0.1:3000', false],
  ['localhost:3000@evil.example', false],
  ['evil.example/.localhost', false],
  ['evil.example:80.localhost', false],
  [`${'a'.repeat(300)}.localhost`, false],
] as const)('the development server answers under the name %s: %s', ([host, local]) => {
  expect(isKnownHost(host, LOCAL_ONLY)).toBe(local)
})

test.for([
  ['localhost:3000', true],
  ['mill.ngrok.app', true],
  ['MILL.ngrok.app:443', true],
  ['192.168.0.7:3000', true],
  ['[fd00::7]:3000', true],
  ['ngrok.app', false],
  ['evil.mill.ngrok.app', false],
  ['mill.ngrok.app.evil.example', false],
  ['192.168.0.8:3000', false],
  ['192.168.0.7.evil.example', false],
  ['[fd00::8]:3000', false],
  ['fd00::7', false],
  ['evil.example', false],
] as const)('with --host and --allow-host it answers under the name %s: %s', ([host, known]) => {
  const hosts = { names: new Set(['mill.ngrok.app']), addresses: () => ['192.168.0.7', 'fd00::7'] }
  expect(isKnownHost(host, hosts)).toBe(known)
})

test.for([
  ['a tunnel of this machine', '127.0.0.1', { for: '203.0.113.9', proto: 'https' }],
  ['a tunnel of this machine, over IPv6', '::1', { for: '203.0.113.9', proto: 'https' }],
  ['another machine', '192.168.0.9', { for: '192.168.0.9', proto: 'http' }],
] as const)('the client that %s names: the application is told %j', ([, remoteAddress, told]) => {
  const rawHeaders = [
    'Host',
    'a',
    'X-Forwarded-For',
    '203.0.113.9',
    'x-forwarded-proto',
    'https',
    'X-Forwarded-Host',
    'b',
  ]
  const request = { rawHeaders, headers: { 'x-forwarded-proto': 'https' }, socket: { remoteAddress } }
  const headers = forwardedHeaders(request as never)
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), headers[at + 1]]] : []))
  expect(Object.fromEntries(pairs)).toEqual({ host: 'a', 'x-forwarded-for': told.for, 'x-forwarded-proto': told.proto })
})

test('an address of another machine is told as such', () => {
  const error = Object.assign(new Error('listen EADDRNOTAVAIL 203.0.113.1'), { code: 'EADDRNOTAVAIL' })
  expect(listenFault(error, '203.0.113.1')?.message).toMatch(/^--host 203\.0\.113\.1 is not an address of this machine/)
  expect(listenFault(new Error('another'), '203.0.113.1')).toBeUndefined()
})

describe('stacks', () => {
  test.for([
    ['    at Page (/p/src/page.tsx:5:9)', 'Page', '/p/src/page.tsx', 5, 9],
    ['    at async loader (file:///p/src/a b.ts:1:2)', 'loader', '/p/src/a b.ts', 1, 2],
    [
      '    at http://localhost:3000/_m/assets/src/x.tsx?v=2:7:3',
      '',
      'http://localhost:3000/_m/assets/src/x.tsx?v=2',
      7,
      3,
    ],
    ['    at new Foo (node:internal/x:1:2)', 'new Foo', 'node:internal/x', 1, 2],
    ['Page@http://localhost:3000/x.tsx:7:3', 'Page', 'http://localhost:3000/x.tsx', 7, 3],
    ['Page@http://localhost:3000/@up/x.tsx:7:3', 'Page', 'http://localhost:3000/@up/x.tsx', 7, 3],
    ['    at Page (/p/src/(lab)/page.tsx:5:9)', 'Page', '/p/src/(lab)/page.tsx', 5, 9],
    ['    at /p/src/(lab)/page.tsx:5:9', '', '/p/src/(lab)/page.tsx', 5, 9],
  ] as const)('%s', ([line, name, file, row, column]) => {
    expect(parseStack(`Error: at the top\n${line}`)).toEqual([{ name, file, line: row, column }])
  })

  test('tell the project from packages and from Node', () => {
    const at = (file: string) => ({ name: '', file, line: 1, column: 1 })
    const files = ['/p/src/a.ts', '/p/.env', '/p/node_modules/x/i.js', '/q/b.ts', 'node:fs']
    const frames = describeFrames('/p', files.map(at), (path) => path.endsWith('.ts') || path.includes('node_modules'))
    expect(frames.map(({ file, own }) => [file, own])).toEqual([
      ['src/a.ts', true],
      ['.env', false],
      ['node_modules/x/i.js', false],
      ['../q/b.ts', false],
      ['node:fs', false],
    ])
  })
})

describe('lines of the server', () => {
  const request = '{"level":30,"method":"GET","route":"/","status":200,"durationMs":3.1}'
  const unmatched = '{"level":30,"method":"GET","route":null,"status":404,"durationMs":1.2}'
  const failed = '{"level":50,"msg":"uncaught failure","err":{"message":"boom","stack":"Error: boom\\n    at x"}}'

  test('are put into words', () => {
    const lines = [request, unmatched, failed].map(parseLogLine)
    expect(lines.map((line) => line && readableLine(line))).toEqual([
      'info  GET / 200 3.1 ms',
      'info  GET (no route) 404 1.2 ms',
      'error uncaught failure\nError: boom\n    at x',
    ])
  })

  test('tell of errors', () => {
    expect([request, failed].map((text) => errorOf(parseLogLine(text) ?? { level: 0 })?.message)).toEqual([
      undefined,
      'boom',
    ])
  })

  test.for(['a warning of Node', '{ "no": "level" }', '{broken'])(
    'that are no log lines are left alone: %s',
    (text) => {
      expect(parseLogLine(text)).toBeUndefined()
    },
  )
})

test('a module gets another URL when it is renewed, and every URL leads back to it', () => {
  const urls = createModuleUrls()
  const keys = ['src/app/page.tsx', '../outside/ü [id].tsx']
  const first = keys.map(urls.urlOf)
  urls.renew(keys)
  const second = keys.map(urls.urlOf)
  expect(new Set([...first, ...second]).size).toBe(4)
  const paths = [...first, ...second].map((url) => new URL(url, 'http://localhost').pathname)
  expect(paths.map(urls.keyOf)).toEqual([...keys, ...keys])
})

test('URLs of modules have the base path, and paths outside of it are none of them', () => {
  const urls = createModuleUrls('/shop')
  expect(urls.urlOf('src/app/page.tsx')).toBe('/shop/_m/assets/src/app/page.tsx')
  expect(urls.ownPath('/shop/_m/assets/src/app/page.tsx')).toBe('/_m/assets/src/app/page.tsx')
  expect(['/_m/dev', '/shopping/_m/dev', '/shop'].map(urls.ownPath)).toEqual([undefined, undefined, undefined])
})
