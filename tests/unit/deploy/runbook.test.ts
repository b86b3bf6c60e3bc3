import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VARIABLES } from '../../../src/server/config/config-variables.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')
const CHAPTERS = ['runbook', 'observability', 'deployment', 'configuration', 'reports']
const COMMANDS = /^(?:apt-get|chown|curl|docker|kubectl|listen|node|np[mx]|openssl|redis-cli|appendonly|kill) /
/** Words of others: Redis, Linux, Kubernetes, Node. */
const FOREIGN = new Set([
  'OOM',
  'USER', // of a Dockerfile
  'READONLY',
  'NOAUTH',
  'WRONGPASS',
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'NODE_ENV',
  'NODE_OPTIONS',
  'SOURCE_DATE_EPOCH',
  'POST',
  'GET',
  'HEAD',
  'SENTRY_URL',
  'FROM',
  'BASE',
  'REQUIRE_PROGRAMS',
])

const variables = new Set<string>([
  ...Object.values(VARIABLES).map(({ name }) => name),
  ...(readFileSync(resolve(PROJECT, 'compose.yaml'), 'utf8').match(/(?<=\$\{)[A-Z_]+/g) ?? []),
])
const source = sourcesOf(resolve(PROJECT, 'src')).join('\n')

/** What a chapter has in code marks, each once. */
function quotesOf(chapter: string): string[] {
  const text = readFileSync(resolve(PROJECT, `docs/${chapter}.md`), 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '')
  return [...new Set([...text.matchAll(/`([^`\n]+)`/g)].map(([, quote = '']) => quote))]
}

function sourcesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
}

describe.for(CHAPTERS)('what an operator is told to look for in the chapter %s', (chapter) => {
  const quotes = quotesOf(chapter)

  test('is what the server says, to the letter', () => {
    const said = quotes.filter((quote) => /^[a-z]+(?:[,;:]? [\w-]+){2,}$/i.test(quote) && !COMMANDS.test(quote))
    expect(said.filter((words) => !source.includes(words))).toEqual([])
    if (chapter === 'runbook') expect(said.length).toBeGreaterThan(8)
  })

  test('is measured under that name', () => {
    const names = quotes.flatMap((quote) => quote.match(/^millrace_\w+/g) ?? [])
    expect(names.filter((name) => !source.includes(`'${name}'`))).toEqual([])
  })

  test('is set by a variable that there is', () => {
    const names = quotes.flatMap((quote) => quote.match(/^[A-Z]{2,}(?:_[A-Z]+)*(?==|$)/g) ?? [])
    expect(names.filter((name) => !variables.has(name) && !FOREIGN.has(name))).toEqual([])
  })

  test('stands in a file that there is', () => {
    const paths = quotes.filter((quote) => /^(?:deploy|tests|scripts|src)\/[\w./-]+$/.test(quote))
    expect(paths.filter((path) => !existsSync(resolve(PROJECT, path)))).toEqual([])
  })
})
