import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import type { ParamLists } from '../../../src/shared/route-definition.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { readRulePath } from '../../../src/shared/rules/rule-path.ts'
import { compileSource } from '../../../src/shared/rules/rule-source.ts'
import { isRuntimePath } from '../../../src/shared/runtime-paths.ts'
import { BuildFault } from '../build-fault.ts'
import type { BundleContext } from '../bundle-options.ts'
import type { ApplicationFacts } from './inspect-application.ts'
import { linkLiterals, type LinkLiteral } from './link-literals.ts'

const MODULE = /\.[cm]?[jt]sx?$/
const MOST_FAULTS = 10 // of one build: a renamed route may have hundreds of links

/** Judges literal targets by the table and the rules of an application. */
interface LinkJudge {
  /** @returns what is wrong with a literal; `undefined` for one that leads somewhere, or off the table's paths. */
  faultOf(literal: Pick<LinkLiteral, 'kind' | 'text' | 'isPlain'>): string | undefined
}

/** What decides where a link leads. */
interface LinkFacts extends Pick<ApplicationFacts, 'sources' | 'urls' | 'rules'> {
  /** Of the build. */
  readonly basePath?: string | undefined
}

/** @param facts of the application; rules that only set headers answer nothing. */
export function createLinkJudge({ sources, urls, rules, basePath = '' }: LinkFacts): LinkJudge {
  const noModule = (): Promise<never> => Promise.reject(new Error('Not loaded'))
  const table = createRouteTable(
    Object.fromEntries(
      Object.entries(sources).map(([key, kinds]) => [
        key,
        { ...Object.fromEntries(Object.keys(kinds).map((kind) => [kind, noModule])), ...urls[key] },
      ]),
    ),
  )
  const linked = table.routes.filter(({ definition }) => definition.linked !== false)
  const patterns = linked.map(({ pattern }) => pattern)
  const lists = new Map(linked.map(({ pattern, lists: own }) => [pattern, own ?? {}]))
  const answering = rules.flatMap(([source, effect]) =>
    effect.startsWith('sets ') ? [] : [compileSource(source, refuse, loadExpressionEngine)],
  )

  function leadsSomewhere(path: string): boolean {
    // With a slash at the end it is redirected to the path without.
    const pathname = path.length > 1 ? path.replace(/\/$/, '') : path
    const match = table.match(pathname)
    if (match?.error !== undefined) return false
    if (match !== undefined && match.route.definition.linked !== false) return true
    return isRuntimePath(pathname) || answering.some((source) => source.match(readRulePath(pathname)) !== undefined)
  }

  return {
    faultOf({ kind, text, isPlain }) {
      if (kind === 'pattern') {
        if (patterns.includes(text)) return undefined
        const unlinked = table.routes.some(({ pattern }) => pattern === text)
        const why = unlinked ? 'is a pattern that no link leads to (linked: false).' : 'is not a pattern of the table.'
        return `href('${text}') ${why} ${nearestOf(text, lists)}`
      }
      if (!text.startsWith('/') || text.startsWith('//') || (isPlain && basePath !== '')) return undefined
      const path = text.replace(/[?#].*$/s, '')
      if (leadsSomewhere(path)) return undefined
      return `no route answers ${path}. ${nearestOf(path, lists)} If middleware answers it, write external('${text}').`
    },
  }
}

function refuse(_kind: string, broken: string): never {
  throw new BuildFault(broken)
}

type PatternLists = ReadonlyMap<string, ParamLists>

/** A catch-all is near to every path, so it tells nothing; an optional one also answers the path above it. */
function nearestOf(text: string, lists: PatternLists): string {
  const [nearest] = [...lists.keys()]
    .map((pattern) => ({ pattern, path: pattern.replace(/\/\[\[\.\.\..*$/, '') || '/' }))
    .filter(({ path }) => !path.includes('[...'))
    .map(({ pattern, path }) => ({ pattern, path, distance: distanceOf(text, path, lists.get(pattern)) }))
    .toSorted((a, b) => a.distance - b.distance)
  if (nearest === undefined) return lists.size === 0 ? 'The table has no routes.' : 'The table has catch-alls only.'
  const { pattern, path } = nearest
  const limits = Object.entries(lists.get(pattern) ?? {}).map(([name, list]) => ` with ${name} ${inWords(list)}`)
  return `The nearest pattern is ${path}${limits.join(' and')}.`
}

function inWords(list: readonly string[]): string {
  const [first = '', ...more] = list
  return more.length === 0 ? first : `${[first, ...more.slice(0, -1)].join(', ')} or ${more.at(-1)}`
}

/** Segments that differ count more than letters, so that `/mills/7/edit` is nearest to `/mills/[id]/edit`. */
function distanceOf(path: string, pattern: string, lists: ParamLists = {}): number {
  const [own, others] = [path.split('/'), pattern.split('/')]
  const costs = Array.from({ length: Math.max(own.length, others.length) }, (_, index) => {
    const [written, wanted] = [own[index], others[index]]
    if (written === undefined || wanted === undefined) return SEGMENT_COST
    if (written === wanted) return 0
    if (!wanted.startsWith('[')) return costOf(written, wanted)
    const list = lists[wanted.slice(1, -1)]
    return list === undefined ? 1 : Math.min(...list.map((value) => costOf(written, value)))
  })
  return costs.reduce((sum, cost) => sum + cost, 0)
}

function costOf(written: string, wanted: string): number {
  return written === wanted ? 0 : Math.min(SEGMENT_COST, 1 + editsOf(written, wanted))
}

const SEGMENT_COST = 8
const LONGEST_SEGMENT = 40 // longer ones are compared by their starts

/** Levenshtein's distance. */
function editsOf(left: string, right: string): number {
  const [from, to] = [left.slice(0, LONGEST_SEGMENT), right.slice(0, LONGEST_SEGMENT)]
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries()) {
      const [above = 0, left = 0, diagonal = 0] = [row[index + 1], next[index], row[index]]
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/**
 * Checks the literal links in the application's own modules, those of the browser and those of the server.
 * @param root the project.
 * @param app the application's folder.
 * @param inputs paths in the project of all modules that are bundled.
 * @throws {BuildFault} with a line for each dead link: file, line, column, and the nearest pattern.
 */
export function checkLinks(
  { root, app, basePath }: Pick<BundleContext, 'root' | 'app' | 'basePath'>,
  metafiles: readonly Metafile[],
  facts: ApplicationFacts,
): void {
  const judge = createLinkJudge({ ...facts, basePath })
  const own = `${app}/`
  const files = new Set(metafiles.flatMap(({ inputs }) => Object.keys(inputs)).filter((key) => MODULE.test(key)))
  const faults: string[] = []
  for (const key of [...files].toSorted()) {
    const file = join(root, key)
    if (!file.startsWith(own) || file.includes('/node_modules/')) continue
    for (const literal of linkLiterals(file, readFileSync(file, 'utf8'))) {
      const fault = judge.faultOf(literal)
      if (fault !== undefined) faults.push(`${key}:${literal.line}:${literal.column}: ${fault}`)
    }
  }
  if (faults.length === 0) return
  const more = faults.length > MOST_FAULTS ? [`and ${faults.length - MOST_FAULTS} more`] : []
  throw new BuildFault(['Dead links:', ...faults.slice(0, MOST_FAULTS), ...more].join('\n'))
}
