/**
 * Fills the arguments of a call of `console.error` into its text, as browsers do: React passes names and component stacks
 * as arguments of `%s`. Further arguments follow, with a space between.
 */
export function consoleText([first, ...values]: readonly unknown[]): string {
  if (typeof first !== 'string') return [first, ...values].map(textOf).join(' ')
  const rest = [...values]
  const filled = first.replace(/%([%sdifoOcj])/g, (whole, letter: string) => {
    if (letter === '%') return '%'
    if (rest.length === 0) return whole
    const value = rest.shift()
    if (letter === 'c') return '' // a style
    if (letter === 'd' || letter === 'i') return String(Math.trunc(Number(value)))
    if (letter === 'f') return String(Number(value))
    return textOf(value)
  })
  return [filled, ...rest.map(textOf)].join(' ').trimEnd()
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (typeof value !== 'object' || value === null) return String(value)
  try {
    return JSON.stringify(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}

/** What React says on the console about the page. */
interface ReactComplaint {
  /** `failure`: the browser builds a different page than the server sent. `warning`: everything else. */
  readonly kind: 'failure' | 'warning'
  readonly text: string
}

const BREAKS_PAGE = /hydrat|cannot be a (?:child|descendant) of|cannot contain a/i
const REPEATS = /See this log for the ancestor stack trace/
const MARK = /%[sdo]|react\.dev\/link|React/

/**
 * Recognizes a call of `console.error` by React.
 * @returns `undefined` for errors, which are reported elsewhere, for calls of the application, and for a message that only
 * adds to the previous one.
 */
export function reactComplaint(args: readonly unknown[]): ReactComplaint | undefined {
  const [first] = args
  if (typeof first !== 'string' || !MARK.test(first) || args.some((value) => value instanceof Error)) return undefined
  const text = consoleText(args)
  if (REPEATS.test(text)) return undefined
  return { kind: BREAKS_PAGE.test(text) ? 'failure' : 'warning', text }
}
