import { matchesGlob } from 'node:path'

/** Whether a file goes into the build. */
export type IgnoreList = (path: string) => boolean

/**
 * Reads a `.dockerignore`: one pattern a line, `!` takes back, the last that matches decides. A pattern that matches a
 * folder holds for all below it.
 * @returns answers `true` for what is left out; paths are relative, with `/`.
 */
export function readIgnoreList(source: string): IgnoreList {
  const rules = source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const back = line.startsWith('!')
      return { ignored: !back, pattern: (back ? line.slice(1) : line).replace(/^\/|\/$/g, '') }
    })
  return (path) => {
    const places = placesOf(path)
    const rule = rules.findLast(({ pattern }) => places.some((place) => matches(place, pattern)))
    return rule?.ignored ?? false
  }
}

/** A path and the folders around it: `a/b/c`, `a/b`, `a`. */
function placesOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/'))
}

/** Globs of shells do not match names that begin with a dot; Docker's do. */
function matches(place: string, pattern: string): boolean {
  const visible = (text: string): string => text.replaceAll(/(^|\/)\./g, '$1\u0001')
  return matchesGlob(visible(place), visible(pattern))
}
