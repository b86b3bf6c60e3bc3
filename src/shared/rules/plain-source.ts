import type { Key, Token } from 'path-to-regexp'
import type { Ranges } from './expression.ts'

/** The parser's expression for a param without its own. */
const WHOLE_SEGMENT = '[^\\/]+?'

/** One segment of a source: text in lower case, or a param for a number of segments. */
type Part = string | { readonly group: number; readonly least: 0 | 1; readonly most: number }

/**
 * Matches a source whose params are whole segments, at most one of them optional or repeated: most sources are. Each
 * path then has one reading, found by counting segments.
 * @returns `undefined` for a source that needs an expression.
 */
export function compilePlainSource(tokens: readonly Token[]): ((path: string) => Ranges | undefined) | undefined {
  const parts = partsOf(tokens)
  const varying = parts?.findIndex((part) => typeof part === 'object' && (part.least === 0 || part.most > 1))
  if (parts === undefined || varying === undefined) return undefined
  const groups = tokens.filter((token) => typeof token === 'object').length

  const variable = parts.findIndex((part) => typeof part === 'object')
  const start = `/${parts.slice(0, variable === -1 ? parts.length : variable).join('/')}`

  return (path) => {
    // Most paths that a rule is tried for differ early.
    if (path.slice(0, start.length).toLowerCase() !== start) return undefined
    const ends = segmentEnds(path)
    const spare = ends.length - parts.length + 1 // segments for the part that varies
    const part = parts[varying]
    if (varying === -1 ? spare !== 1 : typeof part !== 'object' || spare < part.least || spare > part.most) {
      return undefined
    }
    const ranges = Array<number>(2 * (groups + 1)).fill(-1)
    let segment = 0
    for (const [at, part] of parts.entries()) {
      const count = at === varying ? spare : 1
      const start = segment === 0 ? 1 : (ends[segment - 1] ?? 0) + 1
      if (typeof part === 'string') {
        if (path.slice(start, ends[segment]).toLowerCase() !== part) return undefined
      } else if (count > 0) {
        for (let more = 0; more < count; more += 1) if (isEmpty(ends, segment + more)) return undefined
        ranges[2 * part.group] = start
        ranges[2 * part.group + 1] = ends[segment + count - 1] ?? 0
      }
      segment += count
    }
    return ranges
  }
}

function partsOf(tokens: readonly Token[]): readonly Part[] | undefined {
  const parts: Part[] = []
  let group = 0
  let varying = 0
  for (const [at, token] of tokens.entries()) {
    if (typeof token === 'string') {
      const texts = token === '/' && tokens.length === 1 ? [] : token.slice(1).toLowerCase().split('/')
      if (!token.startsWith('/') || texts.includes('')) return undefined
      parts.push(...texts)
      continue
    }
    group += 1
    const next = tokens[at + 1]
    const isSegment = token.prefix === '/' && token.suffix === '' && token.pattern === WHOLE_SEGMENT
    if (!isSegment || (next !== undefined && !startsSegment(next))) return undefined
    const isOptional = token.modifier === '?' || token.modifier === '*'
    const isRepeated = token.modifier === '+' || token.modifier === '*'
    if (isOptional || isRepeated) varying += 1
    parts.push({ group, least: isOptional ? 0 : 1, most: isRepeated ? Infinity : 1 })
  }
  return varying > 1 ? undefined : parts
}

function startsSegment(token: string | Key): boolean {
  return (typeof token === 'string' ? token : token.prefix).startsWith('/')
}

/** Where each segment ends; a trailing slash does not begin another one. */
function segmentEnds(path: string): readonly number[] {
  const ends: number[] = []
  const length = path.endsWith('/') ? path.length - 1 : path.length
  if (length === 0) return ends
  for (let slash = path.indexOf('/', 1); slash !== -1 && slash < length; slash = path.indexOf('/', slash + 1)) {
    ends.push(slash)
  }
  ends.push(length)
  return ends
}

function isEmpty(ends: readonly number[], segment: number): boolean {
  return ends[segment] === (segment === 0 ? 1 : (ends[segment - 1] ?? 0) + 1)
}
