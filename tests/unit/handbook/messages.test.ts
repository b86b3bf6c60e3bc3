/** The chapters on messages have what the sources say, and nothing else. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSearchIndex, isChapterPath, readChapter, sectionsOf } from 'millrace/internal/handbook'
import { expect, test, vi } from 'vitest'
import { docs } from '../../../scripts/command/docs.ts'
import { sourceMessages, sourceText } from '../../support/source-messages.ts'

const DOCS = join(import.meta.dirname, '../../../docs')
const chapters = globSync('**/*.md', { cwd: DOCS })
  .filter(isChapterPath)
  .map((name) => readChapter(name, readFileSync(join(DOCS, name), 'utf8')))
const ofMessages = chapters.filter(({ name }) => name.startsWith('messages-'))

const index = createSearchIndex(chapters.flatMap(sectionsOf))

const plain = (text: string): string => text.replaceAll(/[`\\]/g, '').replaceAll(/\s+/g, ' ').toLowerCase()

/** What is fixed in a message, between its values: more than one word. */
const partsOf = (text: string): readonly string[] =>
  plain(text)
    .split(/…|(?<=[.?;:]) /)
    .map((part) => part.replace(/^[\s.,;:"'()[\]]+|[\s.,;:"'()[\]]+$/g, ''))
    .filter((part) => part.includes(' '))

/** What TypeScript itself says around the types of links and patterns. */
const OF_TYPESCRIPT = [
  'is not assignable to type',
  'is not assignable to parameter of type',
  'does not satisfy the constraint',
  'Argument of type',
  `is not assignable to type 'never'`,
  `is not assignable to type 'NoRouteMatches<"`,
  `is not assignable to parameter of type 'NoRouteMatches<"`,
  `is not assignable to parameter of type 'TableKey'`,
  `is not assignable to type '"use href(pattern, params), or external(text)"'`,
  `page: takes other data than the loader of this entry returns`,
]

const told = sourceMessages()
const LEAST_WORDS = 5 // of a span of code that is a message

test('each message of the sources is in a chapter, at least with its first words', () => {
  const written = plain(ofMessages.map(({ body }) => body).join('\n'))
  const missing = told.filter(({ text }) =>
    partsOf(text)
      .slice(0, 1)
      .some((part) => !written.includes(part)),
  )
  expect(missing.map(({ file, text }) => `${file}: ${text}`)).toEqual([])
  expect(told.length).toBeGreaterThan(500)
})

test('each message of the chapters is in the sources', () => {
  const known = plain([...told.map(({ text }) => text), sourceText(), ...OF_TYPESCRIPT].join('\n'))
  const lines = ofMessages.flatMap(({ body }) => body.split('\n'))
  const headings = lines.flatMap((line) => /^#### (.*)$/.exec(line)?.[1] ?? [])
  const spans = lines.flatMap((line) => [...line.matchAll(/`([^`]*)`/g)].map(([, text = '']) => text))
  const quoted = [...headings, ...spans.filter((text) => text.split(' ').length >= LEAST_WORDS)]
  const unknown = quoted.filter((text) => partsOf(text).some((part) => !known.includes(part)))
  expect(unknown).toEqual([])
  expect(headings.length).toBeGreaterThan(250)
})

/** Messages as programs print them, each with the heading of its entry. */
const PASTED: readonly (readonly [message: string, entry: string])[] = [
  [
    'PORT: "http" is refused: expected a whole number from 0 to 65535 (for example PORT=3000)',
    '…: … is refused: … (for',
  ],
  [
    'DATA_DIR: "/data" is refused: expected a folder that this process can create and write, but got EACCES',
    'DATA_DIR: ',
  ],
  ["Route table: '/mills/[id]' and '/mills/[name]': both answer exactly the same URLs, because", 'both answer exactly'],
  [
    'rewrites.fallback[2] (source "/a/(.*)"): destination uses :0, and groups without a name are not captured.',
    'destination uses :…, and',
  ],
  ['Server code would reach the browser: src/app/db.server.ts is a *.server.* module.', 'Server code would reach'],
  [
    "src/app/mills/page.tsx, the page of '/mills', cannot be loaded by the server:",
    "…, the … of '…', cannot be loaded",
  ],
  ['{"level":"error","msg":"the shared store cannot be reached"}', 'the shared store cannot be reached'],
  ['the first page cannot be rendered yet', 'the first page cannot be'],
  [
    'Error: The cookie session would have 5200 bytes, but browsers keep only 4096: store an id in it, and',
    'The cookie … would have',
  ],
  ['A part with a header twice', 'A body that is not JSON'],
  [
    'redirect() was refused to send the visitor to //evil.example: it is not a path of this site',
    'redirect() was refused',
  ],
  ['DESK_PASSWORD: is not set', '…: is not set'],
  ['DESK_PASSWORD: is not set. Variables are read from the environment; /desk has no .env.local', '…: is not set'],
  ['This build needs Node 24 or newer, and this is v20.20.2.', 'This build needs Node'],
  [`error TS2322: Type '"/mill/1"' is not assignable to type 'NoRouteMatches<"/mill/1">'.`, 'NoRouteMatches'],
  [`Type 'string' is not assignable to type 'never'`, `type 'never'`],
  [`is not assignable to type 'never'`, `type 'never'`],
  [
    `error TS2344: Type '"/nope"' does not satisfy the constraint '"/" | "/mills/[id]"'.`,
    'does not satisfy the constraint',
  ],
  ['TypeError: /mills: GET did not return a Response', '…: … did not return a Response'],
]

test.for(PASTED)('a pasted message finds its entry first: %s', ([message, entry]) => {
  const [found] = index.search(message, 1)
  expect(found?.section).toMatchObject({
    chapter: expect.stringMatching(/^messages-/),
    heading: expect.stringContaining(entry),
  })
})

test('a pasted message prints its entry in the terminal', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  await docs('Error: Host is not in ORIGIN'.split(' '))
  expect(print.mock.calls[0]?.[0]).toMatch(/^docs\/messages-server\.md:\d+\n\n#### `Host is not in ORIGIN`\n/)
  print.mockRestore()
})
