import type { Capture, Captures } from './captures.ts'

/**
 * Text with params, outside a path: `:id`, `:path*`. A colon before anything else is literal, and so is one after a
 * backslash, which is removed.
 */
export type TextTemplate = readonly (string | TemplateParam)[]

/** One param of a template. */
interface TemplateParam {
  readonly name: string
  /** Whether a list is allowed, joined by slashes. */
  readonly repeats: boolean
}

const PARAM = /(?<!\\):(\w+)([*+?]?)/g

/**
 * @param names possible captures of the rule; a colon before any other name is literal.
 * @param isQuoted names before which a backslash is removed; default: all.
 */
export function compileTemplate(
  text: string,
  names: ReadonlySet<string>,
  isQuoted: (name: string) => boolean = () => true,
): TextTemplate {
  const withoutQuotes = (literal: string): string =>
    literal.replace(/\\:(\w+)/g, (written, name: string) => (isQuoted(name) ? `:${name}` : written))
  const parts: (string | TemplateParam)[] = []
  let literal = ''
  let end = 0
  for (const found of text.matchAll(PARAM)) {
    const [whole, name = '', modifier] = found
    if (!names.has(name)) continue
    literal += text.slice(end, found.index)
    if (literal !== '') parts.push(withoutQuotes(literal))
    parts.push({ name, repeats: modifier === '*' || modifier === '+' })
    literal = ''
    end = found.index + whole.length
  }
  literal += text.slice(end)
  if (literal !== '') parts.push(withoutQuotes(literal))
  return parts
}

/** Whether a template consists only of params without captures. */
export function isAbsent(template: TextTemplate, captures: Captures): boolean {
  return template.length > 0 && template.every((part) => typeof part === 'object' && !captures.has(part.name))
}

/** Whether there is a list for a param without a star. */
export function lacksStar(template: TextTemplate, captures: Captures): boolean {
  return template.some((part) => {
    const capture = typeof part === 'object' && !part.repeats ? captures.get(part.name) : undefined
    return capture !== undefined && typeof capture.value !== 'string'
  })
}

/** @param textOf formats a captured value; params without a capture are left out. */
export function fillTemplate(
  template: TextTemplate,
  captures: Captures,
  textOf: (capture: Capture) => readonly string[],
): string {
  return template
    .map((part) => {
      if (typeof part === 'string') return part
      const capture = captures.get(part.name)
      return capture === undefined ? '' : textOf(capture).join('/')
    })
    .join('')
}
