import type { Capture, Captures } from './captures.ts'

/**
 * Text with params in it, outside of a path: `:id`, `:path*`. A colon before anything else is a colon, and so is one behind a
 * backslash, which goes.
 */
export type TextTemplate = readonly (string | TemplateParam)[]

/** One param of a template. */
export interface TemplateParam {
  readonly name: string
  /** Whether a list may stand here, its values joined by slashes. */
  readonly repeats: boolean
}

const PARAM = /(?<!\\):(\w+)([*+?]?)/g

/**
 * @param names what the rule can capture; a colon before any other name stays as written.
 * @param isQuoted before which names a backslash goes; all of them where absent.
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

/** Whether a template is nothing but params, none of which was captured. */
export function isAbsent(template: TextTemplate, captures: Captures): boolean {
  return template.length > 0 && template.every((part) => typeof part === 'object' && !captures.has(part.name))
}

/** Whether a list would stand where the template has no star. */
export function lacksStar(template: TextTemplate, captures: Captures): boolean {
  return template.some((part) => {
    const capture = typeof part === 'object' && !part.repeats ? captures.get(part.name) : undefined
    return capture !== undefined && typeof capture.value !== 'string'
  })
}

/** @param textOf how a captured value is written here; what was not captured is left out. */
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
