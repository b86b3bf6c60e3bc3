import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createDevChannel } from '../../../scripts/dev/tell/dev-channel.ts'
import { createWarningPrinter } from '../../../scripts/dev/tell/dev-warnings.ts'
import { describeSlowLoaders, drawWaterfall } from '../../../scripts/dev/tell/loader-waterfall.ts'
import { fileToOpen, openEditor, type Launch } from '../../../scripts/dev/serve/open-editor.ts'
import { factsOf, parseLogLine } from '../../../scripts/dev/tell/readable-log.ts'
import { describeFrames } from '../../../scripts/dev/tell/stack-frames.ts'
import { noteLoaders } from '../../../src/server/routes/load/development-notes.ts'
import type { DevFailure, DevWarning } from '../../../src/client/dev/dev-messages.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

describe('opening a file in an editor', () => {
  async function project() {
    const temp = await makeTempDir('editor')
    await mkdir(join(temp.path, 'project/src'), { recursive: true })
    await mkdir(join(temp.path, 'project/node_modules/x'), { recursive: true })
    await writeFile(join(temp.path, 'project/src/page.tsx'), '')
    await writeFile(join(temp.path, 'project/node_modules/x/i.js'), '')
    await writeFile(join(temp.path, 'outside.ts'), '')
    await mkdir(join(temp.path, 'project-b'))
    await writeFile(join(temp.path, 'project-b/a.ts'), '')
    await symlink(join(temp.path, 'outside.ts'), join(temp.path, 'project/src/link.ts'))
    return { root: join(temp.path, 'project'), [Symbol.asyncDispose]: () => temp.remove() }
  }

  test('takes files of the project only', async () => {
    await using folder = await project()
    const { root } = folder
    expect(await fileToOpen(root, 'src/page.tsx')).toBe(join(root, 'src/page.tsx'))
    for (const file of [
      '',
      '.',
      'src',
      '../outside.ts',
      '../project-b/a.ts',
      'src/../../outside.ts',
      'src/link.ts',
      'src/missing.ts',
      'node_modules/x/i.js',
      join(root, 'src/page.tsx'),
      '/etc/passwd',
      'src/page.tsx\0',
      'x'.repeat(5_000),
    ]) {
      expect([file, await fileToOpen(root, file)]).toEqual([file, undefined])
    }
  })

  test('starts the editor with file, line and column, and tells why it did not start', async () => {
    await using folder = await project()
    const { root } = folder
    const place = { file: 'src/page.tsx', line: 3, column: 5 }
    const asked: unknown[] = []
    const launched: Launch = (target, editor) => void asked.push(target, editor)
    expect(await openEditor(root, place, 'code', launched)).toBeUndefined()
    expect(asked).toEqual([`${join(root, 'src/page.tsx')}:3:5`, 'code'])

    const fails =
      (reason: string | null): Launch =>
      (_target, _editor, onFault) =>
        onFault('', reason)
    expect(await openEditor(root, place, undefined, fails(null))).toContain('LAUNCH_EDITOR=')
    expect(await openEditor(root, place, 'vimm', fails('no vimm.'))).toContain('no vimm.')
    expect(await openEditor(root, { ...place, file: '.env' }, undefined, launched)).toContain(
      'not a file of the project',
    )
    expect(asked).toHaveLength(2)
  })

  test('passes on that the command of the environment is missing', async () => {
    await using folder = await project()
    const fault = await openEditor(folder.root, { file: 'src/page.tsx', line: 1, column: 1 }, 'no-such-editor-here')
    expect(fault).toContain('no-such-editor-here')
  })
})

describe('slow loaders', () => {
  const runs = [
    { segment: '/mills/[id]#page', start: 12, end: 612 },
    { segment: '/#layout', start: 10, end: 210 },
    { segment: '/late#page', start: 1_199, end: 1_200 },
  ]

  test('are drawn on one time axis, in the order of their start', () => {
    expect(drawWaterfall(runs).split('\n')).toEqual([
      `/#layout         |${'█'.repeat(7).padEnd(40)}|    200 ms`,
      `/mills/[id]#page |${'█'.repeat(20).padEnd(40)}|    600 ms`,
      `/late#page       |${' '.repeat(39)}█|      1 ms`,
    ])
    expect(drawWaterfall([{ segment: 'x'.repeat(100), start: 0, end: 0 }])).toHaveLength(
      40 + ' |'.length + 40 + '| '.length + '     0 ms'.length,
    )
  })

  test('are described by the slowest, with a way out', () => {
    expect(describeSlowLoaders(runs)).toMatch(/^The loader of \/mills\/\[id\]#page took 600 ms.*promise/s)
  })

  test.for([
    ['document', {}, 'document'],
    ['document', { cache: 'shared' }, undefined],
    ['document', { shell: 'early' }, 'nobody'],
    ['data', {}, undefined],
    ['data', { shell: 'early' }, 'click'],
  ] as const)('of a %s, %o, are told of if somebody waits', ([kind, definition, waits]) => {
    const logged: unknown[] = []
    const over: (() => void)[] = []
    const span = (name: string, endedAt: number) => ({ op: 'loader', name, startedAt: 0, endedAt })
    const record = { kind, startedAt: 0, route: '/a', spans: [span('/#layout', 100), span('/a#page', 600)] }
    const log = { warn: (line: unknown) => logged.push(line) }
    const context = { log, record, onFinish: (work: () => void) => over.push(work) }
    noteLoaders([], { key: '/a', definition } as never, context as never)
    for (const work of over) work()
    const layout = { segment: '/#layout', start: 0, end: 100 }
    const own = { segment: '/a#page', start: 0, end: 600, ...(waits && { waits }) }
    expect(logged).toEqual(waits === 'nobody' ? [] : [{ loaders: [layout, own], route: '/a' }])
  })

  test('are not told to do what an early page does already', () => {
    const early = (waits: 'nobody' | 'click' | 'document') =>
      runs.map((run, index) => (index === 0 ? { ...run, waits } : run))
    expect(describeSlowLoaders(early('nobody'))).toMatch(/^The loader of \/#layout took 200 ms, and the page waits/)
    expect(describeSlowLoaders(early('nobody'))).not.toContain('early')
    expect(describeSlowLoaders(early('click'))).toMatch(/took 600 ms, and a click waits for it.*promise/s)
    expect(describeSlowLoaders(early('click'))).not.toContain('early')
    expect(describeSlowLoaders(early('document'))).toMatch(/the page waits for it.*shell: 'early'/s)
    expect(describeSlowLoaders(runs)).not.toContain('early')
  })
})

describe('warnings in the terminal', () => {
  const warning = (part: Partial<DevWarning> = {}): DevWarning => ({ kind: 'title', message: 'No title.', ...part })

  test('of pages and requests are printed once', () => {
    const printed: string[] = []
    const { once } = createWarningPrinter((text) => printed.push(text))
    const frame = { name: '', file: 'src/page.tsx', line: 3, column: 5, own: true }
    for (const one of [warning(), warning(), warning({ frame }), warning({ message: 'Another.' })]) once(one)
    // Times differ from request to request.
    for (const ms of [600, 700]) once(warning({ kind: 'slow', message: `${ms} ms`, detail: '|██|', frame }))
    expect(printed).toEqual([
      'warn  No title.',
      'warn  src/page.tsx:3:5: No title.',
      'warn  Another.',
      'warn  src/page.tsx:3:5: 600 ms\n|██|',
    ])
    for (let index = 0; index < 2_000; index += 1) once(warning({ message: String(index) }))
    expect(printed).toHaveLength(1_000)
  })

  test('cannot change the terminal', () => {
    const printed: string[] = []
    createWarningPrinter((text) => printed.push(text)).once(
      warning({ message: 'a\u001b[2Jb\u009bc\nd' + 'x'.repeat(9_000) }),
    )
    expect(printed[0]?.slice(0, 14)).toBe('warn  a[2Jbc\nd')
    expect(printed[0]?.length).toBeLessThan(2_100)
  })

  test('of a build are printed again when they are back', () => {
    const printed: string[] = []
    const { current } = createWarningPrinter((text) => printed.push(text))
    for (const warnings of [[warning()], [warning()], [], [warning()]]) current(warnings)
    expect(printed).toEqual(['warn  No title.', 'warn  No title.'])
  })
})

describe('the channel to pages', () => {
  const failure = (status?: number): DevFailure => ({
    kind: 'server',
    message: 'Error: boom',
    frames: [],
    digest: 'd',
    request: { id: 'r', method: 'GET', url: '/', ...(status === undefined ? {} : { status }) },
  })
  function joinPage(channel: ReturnType<typeof createDevChannel>, page?: string[]): unknown[] {
    const written: string[] = []
    const response = {
      writeHead: () => undefined,
      write: (text: string) => written.push(text),
      once: () => undefined,
    }
    channel.join(response as never, page)
    return written.slice(1).map((text) => JSON.parse(text.slice('data: '.length)))
  }

  test('tells a page that opens later of one failure with its status, and of the warnings', () => {
    const channel = createDevChannel('one', () => 0, 'Millrace 0.1.0')
    channel.requestFailed(failure())
    channel.requestFailed(failure(500))
    channel.requestWarned({ kind: 'slow', message: 'slow' })
    channel.warn([{ kind: 'link', message: 'dead' }])
    expect(joinPage(channel)).toEqual([
      { type: 'versions', versions: 'Millrace 0.1.0' },
      { type: 'warnings', warnings: [{ kind: 'link', message: 'dead' }] },
      { type: 'failure', failure: failure(500) },
      { type: 'warning', warning: { kind: 'slow', message: 'slow' } },
    ])
  })

  test('tells a page that opens later of no failure of another page', () => {
    const channel = createDevChannel('one', () => 0)
    const request = { id: 'r', method: 'GET', url: '/orders/13?a=/' }
    channel.requestFailed({ kind: 'server', message: 'Error: boom', frames: [], request })
    expect(joinPage(channel, ['/'])).toEqual([])
    expect(joinPage(channel, ['/shop/orders/13', '/orders/13'])).toHaveLength(1)
    expect(joinPage(channel, [])).toHaveLength(1)
  })

  test('marks the first failure of a build, which replaces those of the build before', () => {
    const channel = createDevChannel('one', () => 0)
    channel.buildFailed([
      { kind: 'build', message: 'a', frames: [] },
      { kind: 'build', message: 'b', frames: [] },
    ])
    expect(joinPage(channel)).toMatchObject([{ isFirst: true }, { failure: { message: 'b' } }])
    expect(joinPage(channel)[1]).not.toHaveProperty('isFirst')
  })
})

test('a failure in the log tells its request', () => {
  const line = {
    level: 50,
    requestId: 'r',
    method: 'GET',
    url: '/a?b',
    route: '/a',
    loader: '/a#page',
    digest: 'd',
    err: { message: 'x' },
  }
  const parsed = parseLogLine(JSON.stringify(line))
  expect(parsed && factsOf(parsed)).toEqual({
    digest: 'd',
    request: { id: 'r', method: 'GET', url: '/a?b', route: '/a', loader: '/a#page' },
  })
  expect(factsOf({ level: 50, digest: 'd' })).toEqual({ digest: 'd' })
  // The URL is the page's, and so is the route.
  const call = { level: 50, requestId: 'r', method: 'POST', url: '/en/orders', route: '/_m/data/[locale]/orders' }
  expect(factsOf(call).request?.route).toBe('/[locale]/orders')
  expect(factsOf({ ...call, url: '/', route: '/_m/data/' }).request?.route).toBe('/')
})

test('frames of others name their owner', () => {
  const at = (file: string) => ({ name: '', file, line: 1, column: 1 })
  const files = [
    'node:fs',
    '/p/node_modules/react-dom/cjs/a.js',
    '/p/node_modules/millrace/lib/a.js',
    '/p/node_modules/@scope/b/node_modules/c/i.js',
    '/p/src/a.ts',
  ]
  expect(describeFrames('/p', files.map(at), () => true).map(({ owner, own }) => owner ?? own)).toEqual([
    'Node',
    'React',
    'Millrace',
    'c',
    true,
  ])
})
