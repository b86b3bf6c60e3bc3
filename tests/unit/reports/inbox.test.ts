import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it, vi } from 'vitest'
import { serializeEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { createInbox, type InboxOptions, type InboxStore } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { inboxPlace, receive, titles } from './inbox-setup.ts'
import { NOW, sampleEnvelope } from './sample-envelope.ts'

const TRACE = 'ab'.repeat(16)

const place = inboxPlace()
const open = (options?: InboxOptions): InboxStore => place.open(options)

function failure(value: string, frames: object[] = [], type = 'Error'): object {
  return { exception: { values: [{ type, value, stacktrace: { frames } }] } }
}

describe('the list', () => {
  it('is empty where nothing has come', () => {
    expect(open().list(1)).toEqual({ groups: [], page: 1, pages: 1, total: 0, envelopes: 0 })
  })

  it('shows each group once, with its count, the newest first', () => {
    const inbox = open()
    receive(inbox, { ...failure('a'), transaction: '/old', platform: 'node' }, NOW)
    receive(inbox, failure('b'), NOW + 1)
    receive(inbox, { ...failure('a'), transaction: '/new', platform: 'javascript' }, NOW + 2)
    expect(inbox.list(1)).toMatchObject({ page: 1, pages: 1, total: 2, envelopes: 3 })
    expect(inbox.list(1).groups).toMatchObject([
      { title: 'Error: a', route: '/new', sides: ['browser', 'server'], count: 2, firstAt: NOW, lastAt: NOW + 2 },
      { title: 'Error: b', route: undefined, sides: ['elsewhere'], count: 1, firstAt: NOW + 1, lastAt: NOW + 1 },
    ])
  })

  it('has fifty groups on a page, and the last page for all behind it', () => {
    const inbox = open()
    for (let at = 0; at < 101; at += 1) receive(inbox, { fingerprint: [`f${at}`], message: `m${at}` })
    expect(inbox.list(1).groups).toHaveLength(50)
    expect(inbox.list(2).groups.at(-1)?.title).toBe('m1')
    expect(inbox.list(3)).toMatchObject({ page: 3, pages: 3, total: 101, groups: [{ title: 'm0' }] })
    expect(inbox.list(99).page).toBe(3)
  })

  it('reads what it shows, and no more than an index of the groups before and behind it', () => {
    const database = openReportDatabase(place.folder.path)
    place.opened.push(database)
    const asked: string[] = []
    const inbox = createInbox({
      ...database,
      statement(sql) {
        asked.push(sql)
        return database.statement(sql)
      },
    })
    inbox.list(2)
    const steps = asked
      .flatMap((sql) =>
        database.statement(`EXPLAIN QUERY PLAN ${sql}`).all(...(sql.includes('LIMIT ?') ? [50, 50] : [])),
      )
      .map(({ detail }) => String(detail))
    const scans = steps.filter((step) => step.startsWith('SCAN inbox') && step !== 'SCAN inbox_totals')
    expect(scans.length).toBeGreaterThan(0)
    for (const scan of scans) expect(scan).toMatch(/^SCAN inbox_failures USING COVERING INDEX/)
  })

  it('counts what is kept of each group, whatever was evicted of it', () => {
    const inbox = open({ bounds: { envelopes: 40, bytes: 1_000_000 } })
    const kept: { message: string; platform: string }[] = []
    for (let at = 0; at < 200; at += 1) {
      const event = { message: `kind ${'abcdefg'[(at * at) % 7]}`, platform: at % 3 === 0 ? 'node' : 'javascript' }
      receive(inbox, event)
      kept.push(event)
      if (kept.length > 40) kept.shift()
    }
    const expected = new Map<string, { count: number; sides: readonly string[] }>()
    for (const { message, platform } of kept.toReversed()) {
      const { count = 0, sides = [] } = expected.get(message) ?? {}
      const side = platform === 'node' ? 'server' : 'browser'
      expected.set(message, { count: count + 1, sides: [...new Set([...sides, side])].toSorted() })
    }
    const { groups, total } = inbox.list(1)
    expect(groups.map(({ title, count, sides }) => [title, { count, sides }])).toEqual([...expected])
    expect(total).toBe(expected.size)
  })

  it('shows the first events of an envelope that has hundreds, and looks at no others', () => {
    const inbox = open()
    const payload = (at: number): Buffer => Buffer.from(JSON.stringify({ message: `event`, fingerprint: [String(at)] }))
    const items = Array.from({ length: 900 }, (_, at) => ({
      type: 'event',
      header: { type: 'event' },
      payload: payload(at),
    }))
    const body = serializeEnvelope({ header: {}, items })
    const parse = vi.spyOn(JSON, 'parse')
    inbox.accept({ ...sampleEnvelope({ eventId: '0'.repeat(32), receivedAt: NOW }), body })
    // Each item's header, the envelope's own, and the events that are shown.
    expect(parse).toHaveBeenCalledTimes(900 + 1 + 4)
    expect(inbox.list(1)).toMatchObject({ total: 4, envelopes: 1 })
  })

  it('shows no transactions, sessions and the like, and keeps them all the same', () => {
    const inbox = open()
    const items = ['transaction', 'session', 'replay_event'].map((type) => ({
      type,
      header: { type },
      payload: Buffer.from('{}'),
    }))
    inbox.accept({ ...sampleEnvelope(), body: serializeEnvelope({ header: {}, items }) })
    expect(inbox.list(1)).toMatchObject({ groups: [], total: 0, envelopes: 1 })
  })

  it('is there after the process has come back, and for other processes at once', () => {
    const inbox = open()
    receive(inbox, failure('a'))
    expect(titles(open())).toEqual(['Error: a'])
  })
})

describe('two events', () => {
  const app = (name: string, file = 'app:///src/shop.ts', line = 1) => ({
    function: name,
    filename: file,
    lineno: line,
  })
  const react = { function: 'render', filename: '/srv/node_modules/react-dom/index.js', lineno: 9 }

  it.each([
    [
      'of the same fingerprint',
      true,
      { fingerprint: ['f', 'g'], message: 'a' },
      { fingerprint: ['f', 'g'], message: 'b' },
    ],
    ['of other fingerprints', false, { fingerprint: ['f'], ...failure('a') }, { fingerprint: ['g'], ...failure('a') }],
    [
      'whose fingerprint adds to the default',
      false,
      { fingerprint: ['{{ default }}', 'tenant'], ...failure('a') },
      { fingerprint: ['{{ default }}', 'tenant'], ...failure('b') },
    ],
    [
      'from another line of one function',
      true,
      failure('a', [app('pay', undefined, 3)]),
      failure('b', [app('pay', undefined, 9)]),
    ],
    ['from different functions', false, failure('a', [app('pay')]), failure('a', [app('refund')])],
    ['of different types', false, failure('a', [app('pay')]), failure('a', [app('pay')], 'TypeError')],
    [
      'with the same own code below different library code',
      true,
      failure('a', [app('pay'), react]),
      failure('a', [app('pay'), { ...react, function: 'commit' }]),
    ],
    [
      'from the same file of two builds',
      true,
      failure('mill 7 has no row', [app('x1', 'https://a.test/_m/assets/shop-AAAABBBB.js')]),
      failure('mill 12 has no row', [app('y2', 'https://b.test/_m/assets/shop-CCCC2222.js')]),
    ],
    [
      'from the same file of a build, that say different things',
      false,
      failure('a', [app('x1', 'https://a.test/_m/assets/shop-AAAABBBB.js')]),
      failure('b', [app('x2', 'https://a.test/_m/assets/shop-AAAABBBB.js')]),
    ],
    [
      'that name the same file of two builds',
      true,
      failure('Failed to load script: https://a.test/_m/assets/page-QWERTYUI.js'),
      failure('Failed to load script: https://a.test/_m/assets/page-ASDFGHJK.js'),
    ],
    [
      'that name different files of one build',
      false,
      failure('Failed to load link: https://a.test/_m/assets/shop-QWERTYUI.css'),
      failure('Failed to load link: https://a.test/_m/assets/page-QWERTYUI.css'),
    ],
    [
      'from the same file of two builds of another tool',
      true,
      failure('no row', [app('x1', 'https://a.test/static/main.3f2a1b9c.js')]),
      failure('no row', [app('y2', 'https://a.test/static/main.77aa01fe.js')]),
    ],
    ['without frames, that differ by a number', true, failure('mill 7 has no row'), failure('mill 12 has no row')],
    ['without frames, that differ by a word', false, failure('mill has no row'), failure('mill has no wheel')],
    ['that are messages', true, { message: 'done in 3 ms' }, { logentry: { message: 'done in 4 ms' } }],
  ])('%s are one group: %s', (_, together, one, other) => {
    const inbox = open()
    receive(inbox, one)
    receive(inbox, other)
    expect(inbox.list(1).total).toBe(together ? 1 : 2)
  })
})

describe('the details of a group', () => {
  it('show what one needs to know of the newest event, and others on request', async () => {
    const inbox = open()
    receive(inbox, failure('first'), NOW, 'a'.repeat(32))
    receive(inbox, {
      ...failure('second'),
      fingerprint: undefined,
      level: 'fatal',
      platform: 'node',
      timestamp: NOW / 1_000,
      transaction: '/mills/[id]',
      release: 'r1',
      environment: 'staging',
      tags: [['digest', '3f1c9a0b7d52'], ['attempt', 1], ['attempt', 2], ['deep', {}], null],
      contexts: { trace: { trace_id: TRACE } },
      request: { url: 'https://example.com/mills/7' },
    })
    const [newest, oldest] = inbox.list(1).groups
    expect(await inbox.group(newest?.id ?? '')).toMatchObject({
      group: { title: 'Error: second', count: 1 },
      event: {
        side: 'server',
        title: 'Error: second',
        level: 'fatal',
        at: NOW,
        digest: '3f1c9a0b7d52',
        release: 'r1',
        environment: 'staging',
        route: '/mills/[id]',
        trace: TRACE,
        url: 'https://example.com/mills/7',
        tags: [
          ['digest', '3f1c9a0b7d52'],
          ['attempt', '2'],
        ],
      },
    })
    expect((await inbox.group(oldest?.id ?? ''))?.event.eventId).toBe('a'.repeat(32))
  })

  it('let one choose among its events, and show the newest where that one has gone', async () => {
    const inbox = open()
    for (const id of ['a', 'b', 'c']) receive(inbox, failure('same'), NOW, id.repeat(32))
    const [group] = inbox.list(1).groups
    const newest = await inbox.group(group?.id ?? '')
    expect(newest?.event.eventId).toBe('c'.repeat(32))
    const oldest = newest?.items.at(-1)?.id
    expect((await inbox.group(group?.id ?? '', oldest))?.event.eventId).toBe('a'.repeat(32))
    expect((await inbox.group(group?.id ?? '', 9_999))?.event.eventId).toBe('c'.repeat(32))
    expect(await inbox.group('0123456789abcdef')).toBeUndefined()
  })

  it('show the innermost call first, and what is own code', async () => {
    const inbox = open()
    const frames = [
      { function: 'outer', filename: 'node:internal/timers', lineno: 1, colno: 2 },
      { function: 'inner', filename: 'app:///src/shop.ts', lineno: 7 },
    ]
    const cause = { type: 'TypeError', value: 'the cause' }
    const thrown = { type: 'Error', value: 'the end', stacktrace: { frames } }
    receive(inbox, { exception: { values: [cause, thrown] } })
    const details = await inbox.group(inbox.list(1).groups[0]?.id ?? '')
    expect(details?.event.exceptions).toEqual([
      { type: 'TypeError', value: 'the cause', frames: [] },
      {
        type: 'Error',
        value: 'the end',
        frames: [
          { function: 'inner', file: 'app:///src/shop.ts', line: 7, column: undefined, inApp: true, mapped: false },
          { function: 'outer', file: 'node:internal/timers', line: 1, column: 2, inApp: false, mapped: false },
        ],
      },
    ])
  })

  it('bring both sides of a trace together', async () => {
    const inbox = open()
    const trace = { contexts: { trace: { trace_id: TRACE } } }
    const payload = Buffer.from(JSON.stringify({ ...trace, transaction: '/mills', platform: 'node' }))
    const transaction = { type: 'transaction', header: { type: 'transaction' }, payload }
    receive(inbox, { ...failure('on the server'), ...trace, platform: 'node' }, NOW)
    receive(inbox, { ...failure('elsewhere'), contexts: { trace: { trace_id: 'cd'.repeat(16) } } }, NOW + 1)
    receive(inbox, { ...failure('in the browser'), ...trace, platform: 'javascript' }, NOW + 2)
    inbox.accept({ ...sampleEnvelope(), body: serializeEnvelope({ header: {}, items: [transaction] }) })
    const browser = inbox.list(1).groups.find(({ title }) => title.includes('browser'))
    expect((await inbox.group(browser?.id ?? ''))?.trace).toMatchObject([
      { kind: 'error', side: 'server', title: 'Error: on the server', group: expect.stringMatching(/^[0-9a-f]{16}$/) },
      { kind: 'transaction', side: 'server', title: '/mills', group: undefined },
    ])
  })

  it('give the envelope back byte for byte', async () => {
    const inbox = open()
    const attachment = { type: 'attachment', header: { type: 'attachment' }, payload: randomBytes(10_000) }
    const event = { type: 'event', header: { type: 'event' }, payload: Buffer.from('{"message":"x"}') }
    const body = serializeEnvelope({ header: {}, items: [attachment, event] })
    inbox.accept({ ...sampleEnvelope(), body })
    const details = await inbox.group(inbox.list(1).groups[0]?.id ?? '')
    expect(details?.event.title).toBe('x')
    expect(inbox.envelope(details?.envelope ?? 0)?.equals(body)).toBe(true)
    expect(inbox.envelope(77)).toBeUndefined()
  })
})

describe('frames of built files', () => {
  async function buildSample(): Promise<{ readonly maps: string; readonly line: number; readonly column: number }> {
    const maps = join(place.folder.path, 'maps')
    await mkdir(maps)
    const source = 'export function pay(sum) {\n  if (sum > 0) throw new RangeError(sum)\n}\n'
    const { outputFiles } = await build({
      stdin: { contents: source, sourcefile: 'src/app/shop.ts', loader: 'ts' },
      minify: true,
      sourcemap: 'external',
      outfile: 'dist/public/shop.js',
      write: false,
    })
    const [map, code] = outputFiles.toSorted((one) => (one.path.endsWith('.map') ? -1 : 1))
    await writeFile(join(maps, 'shop-AAAABBBB.js.map'), map?.text ?? '')
    await writeFile(join(place.folder.path, 'secret.js.map'), map?.text ?? '')
    await writeFile(join(maps, 'broken-AAAABBBB.js.map'), '{')
    return { maps, line: 1, column: (code?.text.indexOf('throw') ?? 0) + 1 }
  }

  it('are shown in the sources where this build has their map, and as they came where it has none', async () => {
    const { maps, line, column } = await buildSample()
    const inbox = open({ mapsFolder: maps })
    const files = [
      'https://example.com/_m/assets/shop-AAAABBBB.js',
      'https://example.com/_m/assets/gone-AAAABBBB.js',
      'https://example.com/_m/assets/broken-AAAABBBB.js',
      'https://example.com/_m/assets/../secret.js',
      'https://example.com/other/shop-AAAABBBB.js',
    ]
    const frames = files.map((filename) => ({ filename, function: 'e', lineno: line, colno: column })).toReversed()
    receive(inbox, failure('paid too much', frames))
    const details = await inbox.group(inbox.list(1).groups[0]?.id ?? '')
    const shown = details?.event.exceptions[0]?.frames ?? []
    expect(shown[0]).toMatchObject({ file: expect.stringMatching(/src\/app\/shop\.ts$/), line: 2, mapped: true })
    expect(shown.slice(1).map(({ file, mapped }) => [file, mapped])).toEqual(
      files.slice(1).map((file) => [file, false]),
    )
  })

  it('are found by their debug ids, wherever the script lay, and never by a name that another build had too', async () => {
    const { maps, line, column } = await buildSample()
    const inbox = open({ mapsFolder: maps })
    const [own, elsewhere, other] = [
      'https://example.com/_m/assets/shop-AAAABBBB.js',
      'https://cdn.example.com/copies/1.js',
      'https://example.com/_m/assets/shop-AAAABBBB.js?2',
    ]
    const idOf = (file: string, name: string) => ({ type: 'sourcemap', code_file: file, debug_id: debugIdOf(name) })
    const images = [
      idOf(own, 'shop-AAAABBBB.js'),
      idOf(other, 'shop-CCCCDDDD.js'),
      { type: 'sourcemap', code_file: elsewhere, debug_id: debugIdOf('shop-AAAABBBB.js').toUpperCase() },
      'what is no image',
    ]
    const frames = [own, elsewhere, other].map((filename) => ({ filename, lineno: line, colno: column })).toReversed()
    receive(inbox, { ...failure('paid too much', frames), debug_meta: { images } })
    const details = await inbox.group(inbox.list(1).groups[0]?.id ?? '')
    const shown = details?.event.exceptions[0]?.frames ?? []
    expect(shown.map(({ mapped }) => mapped)).toEqual([true, true, false])
    expect(JSON.stringify(shown)).not.toContain('debugId')
  })
})
