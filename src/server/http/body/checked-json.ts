import { BodyError, overLimit } from './body-error.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from './body-limits.ts'
import { checkKey } from './field-name.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Cost of an object or array, measured in V8: a megabyte of `{},` takes twenty. */
const OBJECT_BYTES = 56
/** Cost of a member: its slot, and a heap number. */
const SLOT_BYTES = 16

/**
 * Text without these contains no forbidden key, and no number that is read as infinite, so the value need not be walked:
 * such a number has an exponent of three digits or more, or 210 digits or more before a shorter one. Digits are counted from
 * the first of a row only: counted from each, a row of 199 would be read 199 times.
 */
const SUSPICIOUS = /__proto__|constructor|prototype|\\u|\de\+?\d{3}|(?<!\d)\d{200}/i

/**
 * Parses JSON from a client.
 * @param hold receives the bytes that the values take besides their text, before they are allocated; an error that it
 * throws ends the parsing.
 * @param mostValues that it may hold, at all levels; an empty list or object counts as two.
 * @throws {BodyError} 413 for more values; 400 for invalid JSON, for more than `MAX_JSON_DEPTH` levels, for keys that
 * `checkKey` refuses, and for numbers that would be infinite, because no JSON could name them again.
 */
export function parseCheckedJson(
  text: string,
  hold: (bytes: number) => void = () => undefined,
  mostValues = MAX_JSON_VALUES,
): unknown {
  const bytes = checkSize(text, mostValues)
  if (bytes > 0) hold(bytes)
  const value = parse(text)
  if (SUSPICIOUS.test(text)) checkMembers(value)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BodyError(400, 'A body that is not JSON')
  }
}

/**
 * Checks depth and number of values before the text is parsed.
 * @returns bytes that its values will take besides their text.
 */
function checkSize(text: string, mostValues: number): number {
  let depth = 0
  let bytes = 0
  let values = 1
  let inString = false
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (inString) {
      if (code === BACKSLASH) index += 1
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COMMA) {
      bytes += SLOT_BYTES
      values += 1
    } else if (OPENING.has(code)) {
      bytes += OBJECT_BYTES
      values += 1
      depth += 1
      if (depth > MAX_JSON_DEPTH) {
        throw new BodyError(400, 'JSON with too many levels', { name: 'jsonDepth', maximum: MAX_JSON_DEPTH })
      }
    } else if (CLOSING.has(code)) depth -= 1
  }
  if (values > mostValues) throw overLimit('jsonValues', mostValues)
  return bytes
}

function checkMembers(value: unknown): void {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const next = left.pop()
    if (typeof next === 'number' && !Number.isFinite(next))
      throw new BodyError(400, 'JSON with a number that is too large')
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) Object.keys(next).forEach(checkKey)
    for (const member of Object.values(next)) left.push(member)
  }
}
