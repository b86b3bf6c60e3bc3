/** A header's value with its parameters: `form-data; name="a"`. */
interface ParameterisedValue {
  /** In lower case. */
  readonly value: string
  /** By lower-case name; values as written, without their quotes. */
  readonly parameters: ReadonlyMap<string, string>
}

const VALUE = /^[!#$%&'*+.^_`|~0-9a-z/-]+/i
const PARAMETER = /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9a-z-]+)=(?:"([^"]*)"|([!#$%&'*+.^_`|~0-9a-z-]+)))?/iy

/**
 * Parses a header's value strictly. Quoted values have no escapes: browsers write quotes as `%22`, and a backslash is
 * literal.
 * @returns `undefined` for invalid syntax and for a repeated parameter.
 */
export function readParameters(header: string): ParameterisedValue | undefined {
  const text = header.trim()
  const value = VALUE.exec(text)?.[0]
  if (value === undefined) return undefined
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = value.length
  while (PARAMETER.lastIndex < text.length) {
    const found = PARAMETER.exec(text)
    if (found === null) return undefined
    const name = found[1]?.toLowerCase()
    if (name === undefined) continue
    if (parameters.has(name)) return undefined
    parameters.set(name, found[2] ?? found[3] ?? '')
  }
  return { value: value.toLowerCase(), parameters }
}

/**
 * Parses a media type. Not one with a backslash: readers differ in whether it escapes a quote, and so in what stands
 * behind the quote, such as another type after a comma.
 * @returns `undefined` as for `readParameters`.
 */
export function readMediaType(header: string): ParameterisedValue | undefined {
  return header.includes('\\') ? undefined : readParameters(header)
}
