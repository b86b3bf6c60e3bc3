/**
 * Changes members of a JSON object in its text, and leaves every other byte unchanged: numbers that JavaScript cannot
 * represent (`1e400`, `12345678901234567890`), spaces, duplicate names.
 */

/** Top-level member: from the first character of its name to the last of its value. */
interface Member {
  readonly name: string
  readonly start: number
  readonly end: number
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const DEEP = 1_000

/**
 * The text with changed members.
 * @param text of an object that `JSON.parse` accepts.
 * @param changes value by name; `undefined` removes a member. All members with such a name are removed, and the new
 * ones are appended.
 * @param once names of which only the last member stays: the one that `JSON.parse` reads.
 */
export function withMembers(
  text: string,
  changes: Readonly<Record<string, string | number | undefined>>,
  once: readonly string[] = [],
): string {
  const members = membersOf(text)
  const last = new Map(members.map(({ name }, at) => [name, at]))
  const isRepeated = (name: string, at: number): boolean => once.includes(name) && last.get(name) !== at
  const opened = text.indexOf('{') + 1
  let written = text.slice(0, opened)
  let isEmpty = true
  /** End of the scanned text, and start of the text to be copied. */
  let before = opened
  for (const [at, { name, start, end }] of members.entries()) {
    if (!Object.hasOwn(changes, name) && !isRepeated(name, at)) {
      written += isEmpty ? text.slice(before, start).replace(',', '') + text.slice(start, end) : text.slice(before, end)
      isEmpty = false
    }
    before = end
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue
    written += `${isEmpty ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`
    isEmpty = false
  }
  return written + text.slice(before)
}

function membersOf(text: string): readonly Member[] {
  const members: Member[] = []
  let at = skipBlanks(text, text.indexOf('{') + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfText(text, at)
    const end = endOfValue(text, nameEnd)
    members.push({ name: nameOf(text.slice(at, nameEnd)), start: at, end })
    at = skipBlanks(text, end)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipBlanks(text, at + 1)
  }
  return members
}

function nameOf(written: string): string {
  return written.includes('\\') ? (JSON.parse(written) as string) : written.slice(1, -1)
}

/** Offset after the value that follows the colon at or after `start`, without trailing blanks. */
function endOfValue(text: string, start: number): number {
  let depth = 0
  let end = start
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (depth === 0 && (code === COMMA || code === CLOSE_OBJECT)) break
    if (code === QUOTE) at = endOfText(text, at) - 1
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1
    else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1
    if (!isBlank(code)) end = at + 1
  }
  return end
}

/** Offset after the closing quote of the string that begins at `start`. */
function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

/** Whether an odd number of backslashes precedes. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (at - before) % 2 === 0
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** Source: RFC 8259, section 2. */
function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/**
 * Upper bound for the number of values in JSON, names of members included: the cost of parsing depends on this more
 * than on length. Characters inside strings count too.
 * @param enough number at which counting stops.
 */
export function countValues(bytes: Buffer, enough: number): number {
  let count = 1
  for (let at = 0; at < bytes.length && count <= enough; at += 1) {
    const code = bytes[at]
    if (code === COMMA || code === COLON || code === OPEN_LIST || code === OPEN_OBJECT) count += 1
  }
  return count
}

/** Whether JSON is nested deeper than any real report, assuming that strings hold few brackets. */
export function isNestedDeeply(bytes: Buffer): boolean {
  let depth = 0
  for (const code of bytes) {
    if (code === OPEN_LIST || code === OPEN_OBJECT) depth += 1
    else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    if (depth > DEEP) return true
  }
  return false
}
