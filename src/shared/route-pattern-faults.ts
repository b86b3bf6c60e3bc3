import type { ParsedPattern, PatternSegment } from './route-pattern.ts'
import type { RouteTableFault } from './route-table-error.ts'
import { isGroup, parsePattern } from './route-pattern.ts'
import { RouteTableError } from './route-table-error.ts'
import { HEALTH_PATHS, isRuntimePath, RUNTIME_PREFIX } from './runtime-paths.ts'

type Refuse = (kind: RouteTableFault, rule: string, wayOut: string) => never

/**
 * Parses a pattern and checks everything that does not depend on the rest of the table.
 * @throws {RouteTableError} for the first fault.
 */
export function parseValidPattern(pattern: string): ParsedPattern {
  const refuse: Refuse = (kind, rule, wayOut) => {
    throw new RouteTableError(kind, [pattern], rule, wayOut)
  }
  checkSlashes(pattern, refuse)
  for (const segment of pattern.slice(1).split('/')) checkSegment(segment, refuse)
  const parsed = parsePattern(pattern)
  for (const segment of parsed.segments) {
    if (segment.kind === 'static') checkText(segment.text, refuse)
  }
  checkNames(parsed.segments, refuse)
  checkReserved(parsed.segments, refuse)
  return parsed
}

function checkSlashes(pattern: string, refuse: Refuse): void {
  if (!pattern.startsWith('/')) {
    refuse('missing-leading-slash', 'a pattern begins with a slash', `Write '/${pattern}'`)
  }
  if (pattern === '/') return
  if (pattern.includes('//')) {
    refuse('empty-segment', 'a pattern has no empty segments', `Write '${pattern.replaceAll(/\/+/g, '/')}'`)
  }
  if (pattern.endsWith('/')) {
    const without = pattern.slice(0, -1)
    refuse('trailing-slash', 'URLs end without a slash, and so do patterns', `Write '${without}'`)
  }
}

function checkSegment(segment: string, refuse: Refuse): void {
  if (segment.startsWith('(')) {
    if (isGroup(segment) && !/^\.*$|[()[\]]/.test(segment.slice(1, -1))) return
    refuse(
      'bad-group',
      `'${segment}' is not a group, which is a whole segment such as '(site)'`,
      'Name the group in one pair of parentheses; intercepting segments such as (.) and (..) do not exist here',
    )
  }
  if (segment.startsWith('[') && segment.endsWith(']')) return checkParam(segment, refuse)
  if (/[[\]]/.test(segment)) {
    refuse(
      'bad-brackets',
      `the brackets in '${segment}' do not enclose the whole segment`,
      'Write [name], [...name] or [[...name]], and nothing beside it within the same segment',
    )
  }
  if (/[?#]/.test(segment)) {
    refuse(
      'search-in-pattern',
      `'${segment}' goes beyond the path, but a pattern describes only the path`,
      'Read search params in the page or its loader; write %3F or %23 for the character itself',
    )
  }
}

function checkParam(segment: string, refuse: Refuse): void {
  const inner = segment.slice(1, -1)
  const optional = inner.startsWith('[') && inner.endsWith(']')
  const content = optional ? inner.slice(1, -1) : inner
  const name = content.startsWith('...') ? content.slice(3) : content

  if (content.includes('…')) {
    refuse(
      'ellipsis-character',
      `'${segment}' has the one character '…' (U+2026)`,
      `Write three full stops: '${segment.replaceAll('…', '...')}'`,
    )
  }
  if (optional && !content.startsWith('...')) {
    refuse(
      'optional-param-unsupported',
      `'${segment}' is an optional param, and only catch-alls can be optional`,
      `Write an entry with '[${name || 'name'}]' and one without, or '[[...${name || 'name'}]]'`,
    )
  }
  if (name === '') {
    refuse(
      'empty-param-name',
      `'${segment}' has no name`,
      `Name the param, as in '${segment.replace(/\]+$/, 'name$&')}'`,
    )
  }
  if (/[[\]]/.test(name)) {
    refuse(
      'bad-brackets',
      `the brackets in '${segment}' do not pair, or the name has some`,
      'Write [name], [...name] or [[...name]]',
    )
  }
  if (name.startsWith('.')) {
    refuse(
      'bad-periods',
      `the name in '${segment}' begins with a full stop`,
      'Write no full stops for one segment, exactly three for a catch-all',
    )
  }
}

function checkText(text: string, refuse: Refuse): void {
  if (text === '.' || text === '..') {
    refuse(
      'dot-segment',
      `'${text}' never reaches a server: browsers resolve it`,
      'Write the path to which it resolves',
    )
  }
  if (hasControlCharacter(text) || !text.isWellFormed()) {
    refuse(
      'unreachable-character',
      `${JSON.stringify(text)} has a control character or half a surrogate pair, which no accepted URL has`,
      'Remove it',
    )
  }
}

/** C0, DEL and C1: refused in every URL. */
function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return true
  }
  return false
}

function checkNames(segments: readonly PatternSegment[], refuse: Refuse): void {
  const seen = new Map<string, string>()
  for (const [index, segment] of segments.entries()) {
    if (segment.kind === 'static') continue
    // ASCII word characters only, as in Next.js, so that a table means the same on both.
    const bare = segment.name.replaceAll(/\W/g, '')
    const earlier = seen.get(bare)
    if (earlier === segment.name) {
      refuse('repeated-slug', `it has two params named '${earlier}'`, 'Rename one of them')
    }
    if (earlier !== undefined) {
      refuse(
        'slug-differs-by-punctuation',
        `its params '${earlier}' and '${segment.name}' differ only in punctuation`,
        'Rename one of them, so that they differ in ASCII letters, digits or underscores',
      )
    }
    seen.set(bare, segment.name)
    if (segment.kind !== 'param' && index < segments.length - 1) {
      refuse(
        'catch-all-not-last',
        `the catch-all '${segment.name}' takes the rest of a path, so nothing can follow it`,
        'Move it to the end, or make it a param of one segment',
      )
    }
  }
}

function checkReserved(segments: readonly PatternSegment[], refuse: Refuse): void {
  const texts = segments.map((segment) => (segment.kind === 'static' ? segment.text : '*'))
  if (isRuntimePath(`/${texts.join('/')}`)) {
    const paths = [`${RUNTIME_PREFIX}*`, ...HEALTH_PATHS].join(', ')
    refuse('reserved-path', `Millrace itself answers there, so this is never reached (${paths})`, 'Choose another path')
  }
}
