import { hash } from 'node:crypto'
import { parseCookie } from 'cookie'

/** Hashes of the values that a cookie had before a call and has after it, by the names of those that the call has set. */
export type WrittenCookies = Readonly<Record<string, readonly string[]>>

/** @param header `Cookie` of the call. */
export function writtenCookies(setCookies: readonly string[], header: string | undefined): WrittenCookies {
  return Object.fromEntries(
    setCookies.map((line) => {
      const [pair = ''] = line.split(';', 1)
      const name = pair.slice(0, pair.indexOf('='))
      return [name, [hashOf(valueIn(header, name)), hashOf(pair.slice(name.length + 1))]]
    }),
  )
}

/**
 * Names of those that something else has written since: what the call has written would undo it.
 * @param header `Cookie` of the call's repetition.
 */
export function rewrittenSince(written: WrittenCookies, header: string | undefined): readonly string[] {
  return Object.entries(written).flatMap(([name, known]) => (known.includes(hashOf(valueIn(header, name))) ? [] : name))
}

/** As sent; empty without one, as after it was deleted. */
export function valueIn(header: string | undefined, name: string): string {
  return parseCookie(header ?? '', { decode: (text) => text })[name] ?? ''
}

function hashOf(value: string): string {
  return hash('sha256', value, 'base64url')
}
