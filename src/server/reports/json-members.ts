/**
 * Changes members of a JSON object in its text, and leaves every other byte as it is: numbers that JavaScript cannot hold
 * (`1e400`, `12345678901234567890`), spaces, names that are there twice.
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

/**
 * The text with other members.
 * @param text of an object, which `JSON.parse` has taken.
 * @param changes value by name; `undefined` takes a member out. All members of such a name go, and the new ones are last.
 */
export function withMembers(text: string, changes: Readonly<Record<string, string | number | undefined>>): string {
  const members = membersOf(text)
  const parts: string[] = [text.slice(0, text.indexOf('{') + 1)]
  let before = parts[0]?.length ?? 0
  let isFirst = true
  for (const { name, start, end } of members) {
    const gap = text.slice(before, start)
    before = end
    if (Object.hasOwn(changes, name)) continue
    parts.push(isFirst ? gap.replace(',', '') : gap, text.slice(start, end))
    isFirst = false
  }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue
    parts.push(`${isFirst ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`)
    isFirst = false
  }
  parts.push(text.slice(before))
  return parts.join('')
}

function membersOf(text: string): readonly Member[] {
  const members: Member[] = []
  let at = skipBlanks(text, text.indexOf('{') + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const nameEnd = endOfText(text, at)
    const end = endOfValue(text, nameEnd)
    members.push({ name: JSON.parse(text.slice(at, nameEnd)) as string, start: at, end })
    at = skipBlanks(text, end)
    if (text.charCodeAt(at) !== COMMA) break
    at = skipBlanks(text, at + 1)
  }
  return members
}

/** Behind the value that a colon at or behind `start` leads to, without the blanks there. */
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

/** Behind the closing quote of the text that begins at `start`. */
function endOfText(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
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
 * How many values JSON of these bytes has at most, names of members among them: what reading it costs follows from this
 * more than from its length. What is in texts counts too.
 * @param enough at which counting stops.
 */
export function countValues(bytes: Buffer, enough: number): number {
  let count = 1
  for (let at = 0; at < bytes.length && count <= enough; at += 1) {
    const code = bytes[at]
    if (code === COMMA || code === COLON || code === OPEN_LIST || code === OPEN_OBJECT) count += 1
  }
  return count
}
