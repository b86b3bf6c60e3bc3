import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { BACKLOG } from '../../../src/server/process/server-limits.ts'
import { fencedBlocks, sampleFaults, type Chapter } from './handbook-samples.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COMPILER_TIMEOUT_MS = 120_000 // for hangs only: it is one run, which takes some seconds
/** The tutorial is one application, which tests/http/tutorial.test.ts compiles as a whole. */
const HANDBOOK: readonly Chapter[] = [
  'README.md',
  ...globSync(['docs/*.md', 'docs/reference/**/*.md'], { cwd: ROOT, exclude: ['docs/tutorial.md'] }),
].map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }))

/**
 * Blocks that no compiler is asked about. Another language, or a slip in the name of one, needs a decision. The last three
 * are code of other frameworks.
 */
const OTHER_LANGUAGES = ['bash', 'bash npm', 'css', 'http', 'nginx', 'text', 'ts signature', 'html', 'js', 'jsx']

/** What a chapter might still say after the code has changed: what it says now, what it said, the complaint. */
const STALE: Readonly<Record<string, readonly (readonly [now: string, before: string, complaint: string])[]>> = {
  'README.md': [['data.rivers.map', 'data.river.map', `Property 'river' does not exist`]],
  'docs/actions.md': [
    ['guarded: false', 'guard: false', `'guard' does not exist in type 'ActionDefinition`],
    ['fileBytes: 32', 'bytes: 32', `'bytes' does not exist in type 'UploadLimits'`],
    [
      'remove.bind(null, entry.id)',
      `remove.bind(null, 'a')`,
      `'string' is not assignable to parameter of type 'number'`,
    ],
    ['Welcome, ${state.email}', 'Welcome, ${state.name}', `Property 'name' does not exist`],
  ],
  'docs/beside-requests.md': [
    ['async start(', 'async begin(', `'begin' does not exist in type 'AppDefinition<`],
    ['context.after(', 'context.later(', `Property 'later' does not exist`],
  ],
  'docs/caching.md': [
    ['staleSeconds: 600', 'stale: 600', `'stale' does not exist in type 'CachedOptions'`],
    ['revalidate(`mill:${input.id}`', 'revalidate(input', `'Mill' is not assignable`],
  ],
  'docs/fallbacks-and-errors.md': [
    ['external: true', 'away: true', `'away' does not exist`],
    ['{ reason, digest', '{ side, digest', `Property 'side' does not exist on type 'ErrorProps'`],
  ],
  'docs/from-express.md': [
    ["cache({ tags: ['parts'] })", "cache({ tag: 'parts' })", `'tag' does not exist in type 'CacheOptions'`],
  ],
  'docs/from-nextjs.md': [['data: { mill, level }', 'data: { mill, water }', `Property 'water' does not exist`]],
  'docs/from-react-router.md': [
    ['{ name }, params, revalidate }', '{ title }, params, revalidate }', `Property 'title' does not exist`],
  ],
  'docs/getting-started.md': [
    [`import('./rivers/loader.server.ts')`, `import('./rivers/rivers.server.ts')`, 'Cannot find module'],
  ],
  'docs/image-sizes.md': [
    ['{ root: folder, type: ', '{ root: folder, kind: ', `'kind' does not exist in type 'SendFileOptions'`],
    ['limitInputPixels: MOST', 'limitPixels: MOST', `'limitPixels' does not exist in type 'SharpOptions'`],
  ],
  'docs/libraries.md': [['<ClientOnly fallback', '<ClientOnly placeholder', `Property 'placeholder' does not exist`]],
  'docs/loaders.md': [
    ["context.once('account'", 'context.once(7', `'number' is not assignable to parameter of type 'string | object'`],
    ['session: 0 }', 'sessions: 0 }', `'sessions' does not exist in type 'DataLifetime'`],
    ['export const guards', 'export const guard', `to type 'never'`],
    ['of={data.level}', 'of={data.gauge}', `Property 'gauge' does not exist`],
  ],
  'docs/metadata.md': [
    ['description: ', 'summary: ', `'summary' does not exist in type 'Metadata'`],
    ['canonical: `', 'canonicalUrl: `', 'Record<"canonicalUrl", never>'],
  ],
  'docs/navigation.md': [
    ['{ useOnline }', '{ useNetwork }', `no exported member 'useNetwork'`],
    [
      ' prefetch="viewport"',
      ' preload="viewport"',
      `Type '{ href: string; preload: string; children: string; }' is not assignable`,
    ],
    ['onClick={blocked.proceed}', 'onClick={blocked.leave}', `Property 'leave' does not exist`],
  ],
  'docs/observability.md': [
    ["startTelemetry('mills', 0.1)", "startTelemetry('mills')", 'Expected 2 arguments, but got 1'],
  ],
  'docs/postgres.md': [
    ['retryAfter: 5', 'retry: 5', `'retry' does not exist in type 'UnavailableOptions'`],
    ['input: { to, cents }', 'input: { to, amount }', `Property 'amount' does not exist`],
  ],
  'docs/routes.md': [
    ['layoutLoader: ', 'layoutData: ', `to type 'never'`],
    ['page: search.page + 1', 'page: search.pages', `Property 'pages' does not exist`],
    [
      "{ revalidate: ['mills'] }",
      "{ revalidates: ['mills'] }",
      `'revalidates' does not exist in type 'EventStreamOptions'`,
    ],
    ['{ send, lastEventId }', '{ send, lastId }', `Property 'lastId' does not exist on type 'EventStream'`],
    ['{ root: join(', '{ folder: join(', `'folder' does not exist in type 'SendFileOptions'`],
    ['next: params.id + 1', 'next: params.id.length', `Property 'length' does not exist on type 'number'`],
    ['addMill(body.name,', 'addMill(body.title,', `Property 'title' does not exist`],
    ["GuardArgs<'/admin'>", "GuardArgs<'/admin', {}>", 'requires between 0 and 1 type arguments'],
    ['Number(search.page)', 'Number(search.pages)', `Property 'pages' does not exist`],
    ['middleware: [', 'before: [', `'before' does not exist in type 'AppDefinition<`],
  ],
  'docs/configuration.md': [['defineEnv(', 'declareEnv(', `'declareEnv'`]],
  'docs/embedding.md': [['app.stop()', 'app.end()', `Property 'end' does not exist on type 'CreatedApp'`]],
  'docs/rules.md': [
    ['afterFiles: [],', 'after: [],', `'after' does not exist`],
    ['missing: [{', 'lacking: [{', `'lacking' does not exist`],
  ],
  'docs/security.md': [[`integrity: 'all'`, `integrity: 'every'`, `'"every"' is not assignable`]],
  'docs/sessions.md': [
    ['session.takeFlash()', 'session.message()', `Property 'message' does not exist`],
    ['await session.devices()', 'await session.list()', `Property 'list' does not exist`],
  ],
  'docs/testing.md': [
    ['createTestApp(application, { clock })', 'createTestApp(application, { time: clock })', `'time' does not exist`],
    ['signed.text(', 'signed.textOf(', `Property 'textOf' does not exist`],
    ['stream.until(', 'stream.wait(', `Property 'wait' does not exist`],
  ],
}

/** A fragment that no form knows. */
const STRANGE: Chapter = { name: 'stale/strange.md', text: 'Text.\n\n```ts\nsomething: { best: 1 }\n```\n' }

const textOf = (name: string): string => HANDBOOK.find((chapter) => chapter.name === name)?.text ?? ''

function staleChapter(name: string): Chapter {
  const text = (STALE[name] ?? []).reduce((text, [now, before]) => text.replace(now, () => before), textOf(name))
  return { name: `stale/${name}`, text }
}

/** Where the chapter says it, and where its block ends: there stands what asks for all that a module exports. */
function placesOf(name: string, text: string): readonly string[] {
  const lines = textOf(name).split('\n')
  const line = lines.findIndex((line) => line.includes(text))
  if (line === -1) throw new Error(`${name} does not say any more: ${text}`)
  const end = lines.findIndex((fence, index) => index > line && fence.trim() === '```')
  return [line, end].map((index) => `stale/${name}:${index + 1}: `)
}

describe('the samples of the handbook and the README', () => {
  let faults: readonly string[] = []
  beforeAll(async () => {
    faults = await sampleFaults([...HANDBOOK, ...Object.keys(STALE).map(staleChapter), STRANGE])
  }, COMPILER_TIMEOUT_MS)

  it('all compile against what millrace and millrace/server really are', () => {
    expect(faults.filter((fault) => !fault.startsWith('stale/'))).toEqual([])
  })

  const stale = Object.entries(STALE).flatMap(([name, changes]) => changes.map((change) => [name, ...change] as const))
  it.each(stale)('%s: %s, once written %s, is refused in its place: %s', (name, now, _before, complaint) => {
    const places = placesOf(name, now)
    const there = faults.filter((fault) => places.some((place) => fault.startsWith(place)))
    expect(there).toContainEqual(expect.stringContaining(complaint))
  })

  it('are refused where they are fragments of a form that is not known, and do not pass unread', () => {
    expect(faults).toContainEqual(expect.stringMatching(/^stale\/strange\.md:4: .*label/))
  })

  it('are all found, because each block says in what language it is', () => {
    const blocks = HANDBOOK.flatMap(({ name, text }) => fencedBlocks(text).map((block) => ({ name, ...block })))
    const samples = blocks.filter(({ language }) => language === 'ts' || language === 'tsx')
    expect(samples.length).toBeGreaterThan(70)
    const others = blocks.filter((block) => !samples.includes(block) && !OTHER_LANGUAGES.includes(block.language))
    expect(others).toEqual([])
  })

  it('let the system hold as many connections as the runtime does, as the examples do', () => {
    const samples = HANDBOOK.flatMap(({ text }) => fencedBlocks(text).map(({ code }) => code))
    const own = globSync(['{examples,templates}/**/*.{js,mjs,ts,tsx}'], { cwd: ROOT, exclude: ['**/node_modules'] })
    const codes = [...samples, ...own.map((name) => readFileSync(join(ROOT, name), 'utf8'))]
    const listening = codes.flatMap((code) => code.split('\n').filter((line) => line.includes('.listen(')))
    expect(listening).toHaveLength(3)
    for (const line of listening) expect(line).toContain(`backlog: ${BACKLOG} }`)
  })
})
