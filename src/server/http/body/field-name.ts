import { BodyError } from './body-error.ts'
import { MAX_NAME_BYTES, MAX_NAME_DEPTH } from './body-limits.ts'

/** One step of a name: a member, an index of a list, or the list's end (`[]`). */
export type NameStep =
  | { readonly kind: 'member'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'append' }

/** As member names these could reach a prototype, here or in the code that receives the object. */
const PROTOTYPE_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

const STRUCTURED = /^[^.[\]]+(?:\.[^.[\]]+|\[\d{1,9}\])*(?:\[\])?$/
const STEP = /\[(\d*)\]|\.?([^.[\]]+)/g

/**
 * Refuses names that none of our forms use.
 * @throws {BodyError} 400 for an empty or too long name.
 */
export function checkFieldName(name: string): string {
  if (name === '') throw new BodyError(400, 'A field without a name')
  if (name.length > MAX_NAME_BYTES || Buffer.byteLength(name) > MAX_NAME_BYTES) {
    throw new BodyError(400, 'A field with too long a name', { name: 'nameBytes', maximum: MAX_NAME_BYTES })
  }
  return name
}

/**
 * Refuses keys that reach an object's prototype.
 * @throws {BodyError} 400.
 */
export function checkKey(key: string): string {
  if (PROTOTYPE_KEYS.has(key)) throw new BodyError(400, 'A key that could reach a prototype')
  return key
}

/**
 * Splits a name: `a`, `a.b`, `a[0].b`, `tags[]`. A name of any other form is one member, unchanged.
 * @throws {BodyError} 400 for names that `checkFieldName` or `checkKey` refuse, and for too many steps.
 */
export function readFieldName(name: string): NameStep[] {
  checkFieldName(name)
  if (!STRUCTURED.test(name)) return [{ kind: 'member', key: checkKey(name) }]
  const steps = [...name.matchAll(STEP)].map(([, index, key]): NameStep => {
    if (key !== undefined) return { kind: 'member', key: checkKey(key) }
    return index === undefined || index === '' ? { kind: 'append' } : { kind: 'index', index: Number(index) }
  })
  if (steps.length > MAX_NAME_DEPTH) {
    throw new BodyError(400, 'A name with too many steps', { name: 'nameDepth', maximum: MAX_NAME_DEPTH })
  }
  return steps
}
