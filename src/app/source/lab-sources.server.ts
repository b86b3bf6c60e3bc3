import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path/posix'
import { html } from 'millrace'
import { sourceName } from '../lab/source-name.ts'
import type { SourceFile } from '../site/file-tabs.tsx'

const ENTRY = /^ {2}'(?:\/\([a-z]+\))?(\/lab\/[^']+)': \{(?: .* \},\n|\n[^]*?^ {2}\},\n)/gm
const MODULE = /import\('\.\/lab\/([^']+)'\)/g
const ACTIONS = 'actions.server.ts'

/** The entries of the lab's routes in the route table, as text, by their patterns. */
async function readEntries(): Promise<ReadonlyMap<string, string>> {
  const table = await readFile(new URL('../routes.ts', import.meta.url), 'utf8')
  const entries = Array.from(table.matchAll(ENTRY), ([entry, pattern = '']) => [pattern, entry] as const)
  return new Map(entries.filter(([, entry]) => /\b(?:page|handler): \(\) => import\('\.\/lab\//.test(entry)))
}

/** The patterns of the lab's routes by the names of their sources. A visitor's path only picks from these. */
export async function sourcePatterns(): Promise<ReadonlyMap<string, string>> {
  const patterns = [...(await readEntries()).keys()]
  return new Map(patterns.map((pattern) => [sourceName(pattern), pattern]))
}

/**
 * The sources of one route of the lab: its entry, what the entry names, and the actions with the forms that call them.
 * @returns an empty list for a pattern that no route of the lab has.
 */
export async function sourceFiles(pattern: string): Promise<readonly SourceFile[]> {
  const entry = (await readEntries()).get(pattern)
  if (entry === undefined) return []
  const named = Array.from(entry.matchAll(MODULE), ([, path = '']) => path)
  const isServers = (path: string): boolean => path.includes('.server.')
  const own = [...named.filter(isServers), ...named.filter((path) => !isServers(path))]
  const paths = [...own, ...(entry.includes('page: ') ? await actionModules(own) : [])]
  // The highlighter is large: the first visitor of such a page or of the handbook loads it.
  const [{ preBlock }, ...texts] = await Promise.all([import('../docs/code-block.server.ts'), ...paths.map(readModule)])
  const sources = [
    ['routes.ts', entry.replaceAll(/^ {2}/gm, '')] as const,
    ...paths.map((path, index) => [path.slice(dirname(path).length + 1), texts[index] ?? ''] as const),
  ]
  return sources.map(([name, code]) => ({ name, html: html(preBlock(code.trim(), 'tsx')) }))
}

/** The components beside a page that call its actions, then the actions. */
async function actionModules(own: readonly string[]): Promise<readonly string[]> {
  const folder = dirname(own[0] ?? '')
  const beside = await readdir(new URL(`../lab/${folder}`, import.meta.url))
  if (!beside.includes(ACTIONS)) return []
  const components = beside
    .map((name) => `${folder}/${name}`)
    .filter((path) => path.endsWith('.tsx') && !own.includes(path))
  const texts = await Promise.all(components.map(readModule))
  return [...components.filter((_, index) => texts[index]?.includes(`'./${ACTIONS}'`)), `${folder}/${ACTIONS}`]
}

function readModule(path: string): Promise<string> {
  return readFile(new URL(`../lab/${path}`, import.meta.url), 'utf8')
}
