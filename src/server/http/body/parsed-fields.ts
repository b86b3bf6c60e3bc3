import { BodyError, overLimit } from './body-error.ts'
import { MAX_FIELDS, MAX_NAME_DEPTH } from './body-limits.ts'
import { checkFieldName } from './field-name.ts'

/**
 * How names are written that a parser has nested: `dots` (`a.b`) as our forms have them, `brackets` (`a[b]`) as the forms
 * of such parsers do.
 */
export type NestedNames = 'dots' | 'brackets'

/**
 * The fields of a form that a parser has made an object of, in an order that gives the same object again.
 * @returns `undefined` if a value is anything that no form can send.
 * @throws {BodyError} 400 for too many levels and for bad names, 413 for too many fields.
 */
export function parsedFields(body: object, names: NestedNames): readonly (readonly [string, string])[] | undefined {
  const fields: (readonly [string, string])[] = []

  /** @returns whether all values are such as forms have. */
  function add(name: string, value: unknown, depth: number): boolean {
    if (typeof value !== 'object' || value === null) {
      const text = textOf(value)
      if (text === undefined) return false
      if (fields.length === MAX_FIELDS) throw overLimit('fields', MAX_FIELDS)
      fields.push([checkFieldName(name), text])
      return true
    }
    if (depth === MAX_NAME_DEPTH) {
      throw new BodyError(400, 'A form with too many levels', { name: 'nameDepth', maximum: MAX_NAME_DEPTH })
    }
    if (!Array.isArray(value)) return addMembers(value, (key) => member(name, key, names), depth)
    // A list of one is a list because its name said so.
    const append = value.length === 1 ? `${name}[]` : name
    return value.every((item, at) => add(isText(item) ? append : `${name}[${at}]`, item, depth + 1))
  }

  function addMembers(object: object, nameOf: (key: string) => string, depth: number): boolean {
    for (const [key, value] of Object.entries(object)) if (!add(nameOf(key), value, depth + 1)) return false
    return true
  }

  return addMembers(body, (key) => key, 0) ? fields : undefined
}

function member(name: string, key: string, names: NestedNames): string {
  return names === 'dots' ? `${name}.${key}` : `${name}[${key}]`
}

function isText(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (value === null) return ''
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
