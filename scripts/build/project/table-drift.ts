import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parsePattern, type PatternSegment } from '../../../src/shared/route-pattern.ts'
import { BuildFault } from '../build-fault.ts'
import { displayPath } from '../build-options.ts'
import { entryPlace } from './entry-places.ts'
import type { RouteSources } from './inspect-application.ts'
import { moduleClaims, type Claim } from './module-claims.ts'
import { placeText } from '../source-place.ts'

/** A module that says something else of its entry than the table. */
interface TableDrift {
  /** The entry's key. */
  readonly key: string
  readonly member: string
  /** The culprit, the rule and the way out. */
  readonly message: string
}

/** For members whose functions take data: the member that returns it. */
const LOADERS: Readonly<Record<string, string>> = { page: 'loader', layout: 'layoutLoader' }

/** The exports of a member's module that are asked. */
const FUNCTIONS: Readonly<Record<string, RegExp>> = {
  page: /^default$/,
  layout: /^default$/,
  loader: /^(?:loader|visitor)$/,
  layoutLoader: /^(?:loader|layoutVisitor)$/,
  guard: /^(?:guard|default)$/,
  handler: /^[A-Z]+$/,
}

/**
 * Finds modules whose types name params that their entry does not have, or data of another loader. The compiler sees more;
 * this is for builds without it, and only says what is certain by the text.
 * @param root the project.
 */
export function createDriftFinder(root: string): (sources: RouteSources) => readonly TableDrift[] {
  const read = createReader(root)
  return (sources) =>
    Object.entries(sources).flatMap(([key, members]) =>
      Object.entries(members).flatMap(([member, source]) => {
        const functions = FUNCTIONS[member]
        if (functions === undefined) return []
        const claims = [...read(source).claims].filter(([name]) => functions.test(name)).map(([, claim]) => claim)
        const fault =
          claims.map((claim) => paramsFault(key, source, claim)).find((text) => text !== undefined) ??
          claims.map((claim) => dataFault({ root, sources, read }, { key, member, source, claim })).find(Boolean)
        return fault === undefined ? [] : [{ key, member, message: `'${key}' ${member}: ${fault}` }]
      }),
    )
}

interface ReadModule {
  readonly text: string
  readonly claims: ReadonlyMap<string, Claim>
}

/** Parses a module again only if its text has changed. */
function createReader(root: string): (source: string) => ReadModule {
  const known = new Map<string, ReadModule>()
  return (source) => {
    const file = join(root, source)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '' // it has gone since the build
    const before = known.get(source)
    if (before?.text === text) return before
    const made = { text, claims: moduleClaims(file, text) }
    known.set(source, made)
    return made
  }
}

function paramsFault(key: string, source: string, { patterns }: Claim): string | undefined {
  const own = parsePattern(key).segments
  if (
    patterns.length === 0 ||
    patterns.some((pattern) => parsePattern(pattern).segments.every((one) => isIn(own, one)))
  )
    return undefined
  const [pattern = ''] = patterns
  return `${source} takes the params of '${pattern}', which this pattern does not have. Move it to a pattern with them, or change its types.`
}

function isIn(own: readonly PatternSegment[], segment: PatternSegment): boolean {
  if (segment.kind === 'static') return true
  const same = own.find((one) => one.kind !== 'static' && one.name === segment.name)
  if (same === undefined) return segment.kind === 'optionalCatchAll'
  return same.kind === segment.kind || (segment.kind === 'optionalCatchAll' && same.kind === 'catchAll')
}

const FROM = /\bfrom\s*['"](\.[^'"]+)['"]/g

interface Application {
  readonly root: string
  readonly sources: RouteSources
  readonly read: (source: string) => ReadModule
}

interface Place {
  readonly key: string
  readonly member: string
  readonly source: string
  readonly claim: Claim
}

function dataFault({ root, sources, read }: Application, place: Place): string | undefined {
  const { key, member, source, claim } = place
  const loader = LOADERS[member]
  if (loader === undefined || claim.modules.length === 0) return undefined
  // What is not a relative path, the bundler's aliases decide.
  if (!claim.modules.every((path) => path.startsWith('.'))) return undefined
  const taken = claim.modules.map((path) => displayPath(root, join(root, dirname(source), path)))
  const given = sources[key]?.[loader]
  if (given === undefined) {
    return `${source} takes the data of ${taken[0]}, and this entry has no ${loader}. Write ${loader}: () => import('…').`
  }
  const isSame = (one: string): boolean => given === one || given.replace(/\.[cm]?[jt]s$/, '') === one
  if (taken.some(isSame)) return undefined
  // One page of two entries may have two loaders with the same type, and two paths may name the same loader.
  const isSharedPage = Object.values(sources).some((one) => one[member] === source && taken.includes(one[loader] ?? ''))
  const named = [...read(given).text.matchAll(FROM)].map(([, path = '']) =>
    displayPath(root, join(root, dirname(given), path)),
  )
  if (isSharedPage || named.some((one) => taken.includes(one))) return undefined
  return `${source} takes the data of ${taken[0]}, and the ${loader} of this entry is ${given}. Name the ${loader} that the ${member} says, or change its types.`
}

const MOST_FAULTS = 10

/**
 * @param app the application's folder.
 * @throws {BuildFault} with a line for each module that says something else of its entry than the table.
 */
export function checkDrift(
  { root, app }: { readonly root: string; readonly app: string },
  sources: RouteSources,
): void {
  const found = createDriftFinder(root)(sources)
  if (found.length === 0) return
  const lines = found.slice(0, MOST_FAULTS).map(({ key, member, message }) => {
    const place = entryPlace({ root, app }, key, member)
    return place === undefined ? message : `${placeText(place)}: ${message}`
  })
  const more = found.length > MOST_FAULTS ? [`and ${found.length - MOST_FAULTS} more`] : []
  throw new BuildFault(['Modules that do not fit their entries:', ...lines, ...more].join('\n'))
}
