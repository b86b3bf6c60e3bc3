import { describe, expect, test } from 'vitest'
import { listenFault } from '../../../scripts/command/dev-listening.ts'
import { rememberEnvFiles } from '../../../src/server/config/variable-origin.ts'
import { buildFailures, startFailure } from '../../../scripts/dev/tell/dev-failures.ts'
import { forwardedHeaders } from '../../../scripts/dev/serve/forwarded-headers.ts'
import { isAllowedHost, LOCAL_ONLY } from '../../../scripts/dev/process/local-hosts.ts'
import { createModuleUrls } from '../../../scripts/dev/compile/module-urls.ts'
import { createLinePrinter, errorOf, parseLogLine, readableLine } from '../../../scripts/dev/tell/readable-log.ts'
import { describeFrames, foldStack, parseStack } from '../../../scripts/dev/tell/stack-frames.ts'

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
  expect(isAllowedHost(host, LOCAL_ONLY)).toBe(local)
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
  expect(isAllowedHost(host, hosts)).toBe(known)
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

describe('a stack in the terminal', () => {
  const named = (frames: Parameters<typeof describeFrames>[1]) =>
    describeFrames('/p', frames, (path) => path.startsWith('src/'))
  const OTHERS = ['    at x (/p/node_modules/millrace/a.js:1:1)', '    at y (/p/node_modules/millrace/b.js:2:2)']

  test('has own frames by their path, and one line for those of others', () => {
    const stack = [
      'Error: boom',
      '    at loader (/p/src/a.ts:5:9)',
      ...OTHERS,
      'cause: Error: deep',
      '    at /p/src/b.ts:1:2',
    ]
    expect(foldStack(stack.join('\n'), named).split('\n')).toEqual([
      'Error: boom',
      '    at loader (src/a.ts:5:9)',
      '    … 2 frames of Millrace',
      'cause: Error: deep',
      '    at (src/b.ts:1:2)',
    ])
  })

  test('stays whole without an own frame', () => {
    const stack = ['Error: boom', ...OTHERS].join('\n')
    expect(foldStack(stack, named)).toBe(stack)
  })
})

describe('a failure of the compiler', () => {
  const location = { file: 'src/a.tsx', namespace: '', line: 8, column: 8, length: 1, lineText: '', suggestion: '' }
  const messageOf = (text: string, note: string) => {
    const errors = [{ id: '', pluginName: '', text, location, notes: [{ text: note, location }], detail: undefined }]
    return buildFailures('/p', Object.assign(new Error('failed'), { errors, warnings: [] }))[0]?.message
  }

  test('tells the place that a note announces, and names modules by their files', () => {
    expect(messageOf('Unexpected closing "B" tag', 'The opening "A" tag is here:')).toBe(
      'Unexpected closing "B" tag\nThe opening "A" tag is here: src/a.tsx:8:9',
    )
    expect(messageOf('No matching export in "action-references:src/b.server.ts" for import "x"', 'Did you?')).toBe(
      'No matching export in "src/b.server.ts" for import "x"\nDid you?',
    )
  })
})

test('a package that is not installed is named with the way out', () => {
  const messageOf = (name: string) => {
    const note = { text: `You can mark the path "${name}" as external to exclude it from the bundle.`, location: null }
    const text = `Could not resolve "${name}"`
    const errors = [{ id: '', pluginName: '', text, location: null, notes: [note], detail: undefined }]
    return buildFailures('/p', Object.assign(new Error('failed'), { errors, warnings: [] }))[0]?.message
  }
  const told = (name: string) =>
    `Install the package (npm install ${name}), or name it in "alias" of millrace.config.ts.`
  expect(messageOf('dayjs/locale/de')).toBe(`Could not resolve "dayjs/locale/de"\n${told('dayjs')}`)
  expect(messageOf('@acme/ui/button')).toBe(`Could not resolve "@acme/ui/button"\n${told('@acme/ui')}`)
  expect(messageOf('@/button')).toBe('Could not resolve "@/button"\nName it in "alias" of millrace.config.ts.')
  expect(messageOf('node:fsx')).toBe('Could not resolve "node:fsx"')
})

test('a server that misses a variable is told with the way out', () => {
  rememberEnvFiles({ folder: '/no-mill', origins: new Map(), hidden: new Map() })
  const missing = startFailure({ message: 'The server ended.', output: 'CLUB_KEY: is not set; PORT: is not a number' })
  expect(missing.message).toBe(
    'The server ended.\nCLUB_KEY: is not set; PORT: is not a number\n' +
      'Variables are read from the environment; /no-mill has no .env.local and no .env.',
  )
  const other = startFailure({ message: 'The server ended.', output: 'Error: no database' })
  expect(other).toEqual({ message: 'The server ended.\nError: no database', stack: 'Error: no database' })
})

describe('lines of the server', () => {
  const request = '{"level":30,"method":"GET","route":"/","status":200,"durationMs":3.1}'
  const unmatched = '{"level":30,"method":"GET","route":null,"status":404,"durationMs":1.2}'
  const asked = '{"level":30,"method":"GET","url":"/mills/7?a=1","route":"/mills/[id]","status":200,"durationMs":3.1}'
  const unknown = '{"level":30,"method":"GET","url":"/mils","route":null,"status":404,"durationMs":1.2}'
  const kept =
    '{"level":30,"method":"GET","url":"/a","route":"/a","status":200,"durationMs":3.1,"cache":"bypass: cookie a"}'
  const failed = '{"level":50,"msg":"uncaught failure","err":{"message":"boom","stack":"Error: boom\\n    at x"}}'

  test('are put into words', () => {
    const lines = [request, unmatched, asked, unknown, kept, failed].map(parseLogLine)
    expect(lines.map((line) => line && readableLine(line))).toEqual([
      'info  GET / 200 3.1 ms',
      'info  GET (no route) 404 1.2 ms',
      'info  GET /mills/7?a=1 200 3.1 ms',
      'info  GET /mils (no route) 404 1.2 ms',
      'info  GET /a 200 3.1 ms, cache bypass: cookie a',
      'error uncaught failure\nError: boom\n    at x',
    ])
  })

  const written = (line: object): string => readableLine(parseLogLine(JSON.stringify(line)) ?? { level: 0 })

  test('tell documents, data, prefetches and actions apart, and the status of what has failed late', () => {
    const of = (line: object) => written({ ...JSON.parse(asked), ...line })
    expect([
      of({ kind: 'document' }),
      of({ kind: 'data' }),
      of({ kind: 'prefetch' }),
      of({ kind: 'action', method: 'POST' }),
      of({ kind: 'data', lateStatus: 500 }),
      of({ kind: 'other' }),
    ]).toEqual([
      'info  GET /mills/7?a=1 200 3.1 ms, document',
      'info  GET /mills/7?a=1 200 3.1 ms, data',
      'info  GET /mills/7?a=1 200 3.1 ms, prefetch',
      'info  POST /mills/7?a=1 200 3.1 ms, action',
      'info  GET /mills/7?a=1 500 3.1 ms, data, begun with 200',
      'info  GET /mills/7?a=1 200 3.1 ms',
    ])
  })

  test('show what an application logs beside a message, and errors in it with their stacks', () => {
    expect(written({ level: 30, time: 1, requestId: 'r', msg: 'Signed in', user: 7, plan: { name: 'pro' } })).toBe(
      "info  Signed in { user: 7, plan: { name: 'pro' } }",
    )
    expect(written({ level: 40, time: 1, method: 'GET', url: '/x' })).toBe("warn  { method: 'GET', url: '/x' }")
    const cause = { type: 'Error', message: 'no socket', stack: 'Error: no socket\n    at connect' }
    const error = { type: 'TypeError', message: 'no mail', stack: 'TypeError: no mail\n    at send', cause }
    const nested = written({ level: 50, msg: 'Not sent', job: { tries: 3, error } })
    expect(nested).toContain('error Not sent {')
    for (const part of ['tries: 3', 'TypeError: no mail\n', 'at send', 'Caused by: Error: no socket', 'at connect']) {
      expect(nested).toContain(part)
    }
    expect(written({ level: 50, msg: 'Not sent', err: error, to: 'ada' })).toBe(
      `error Not sent { to: 'ada' }\n${error.stack}\nCaused by: ${cause.stack}`,
    )
    const long = { level: 30, list: Array.from({ length: 500 }, (_, index) => ({ index, text: 'x'.repeat(5_000) })) }
    expect(written(long).length).toBeLessThan(5_000)
  })

  test('hold no codes for the terminal, which a visitor may have put into an error', () => {
    const told = '\u001B]52;c;cm0gLXI=\u0007\u009B2J\r\u001B[31mred\u001B[0m\tmill\n'
    const err = { message: told, stack: `Error: ${told}    at x` }
    const line = { level: 50, msg: told, method: 'GET', url: `/?q=${told}`, err }
    const text = readableLine(parseLogLine(JSON.stringify(line)) ?? { level: 0 })
    expect(text).not.toMatch(/[^\P{Cc}\n\t]/u)
    expect(text).toContain('Error: ]52;c;cm0gLXI=2Jred\tmill\n    at x')
  })

  test('have an equal failure in a row once, until they forget it', () => {
    const printed: string[] = []
    const lines = createLinePrinter(
      (text) => printed.push(text),
      (stack) => stack.toUpperCase(),
    )
    const [ok, failure] = [request, failed].map((text) => parseLogLine(text) ?? { level: 0 })
    for (const line of [failure, ok, failure]) lines.print(line ?? { level: 0 })
    lines.forget()
    lines.print(failure ?? { level: 0 })
    const whole = 'error uncaught failure\nERROR: BOOM\n    AT X'
    expect(printed).toEqual([whole, 'info  GET / 200 3.1 ms', 'error uncaught failure, as above', whole])
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
