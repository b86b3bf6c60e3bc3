import type { RouteDefinitions } from './route-definition.ts'
import { parsePattern } from './route-pattern.ts'
import { RouteTableError } from './route-table-error.ts'

/**
 * Checks the lists of params. A place in the URL has one list, as it has one name: the matcher and the compiler ask there.
 * @param answering keys of the entries with a page or a handler at or below them.
 * @throws {RouteTableError} for the first fault.
 */
export function checkLists(definitions: RouteDefinitions, answering: ReadonlySet<string>): void {
  const owners = new Map<string, { readonly key: string; readonly values: string }>()
  for (const [key, { params = {} }] of Object.entries(definitions)) {
    for (const [name, list] of Object.entries(params)) {
      const place = placeOf(key, name)
      checkList(key, name, list)
      const values = JSON.stringify([...new Set(list)].toSorted())
      const owner = owners.get(place)
      if (owner !== undefined && owner.values !== values) {
        throw new RouteTableError(
          'different-lists',
          [owner.key, key],
          `they limit '${name}' at the same place of the URL to different lists, and a place has one list`,
          'Write it once, on the outermost entry with this param',
        )
      }
      owners.set(place, { key, values })
      if (answering.has(key)) continue
      throw new RouteTableError(
        'list-without-route',
        [key],
        `it limits '${name}', and neither it nor an entry below it has a page or a handler. Entries below it begin with its key, groups included`,
        'Write the list on the entry whose key those of the pages begin with',
      )
    }
  }
}

/** The pattern up to a param, without groups. */
function placeOf(key: string, name: string): string {
  const written = parsePattern(key).url.split('/')
  const at = written.indexOf(`[${name}]`)
  if (at !== -1) return written.slice(0, at + 1).join('/')
  throw new RouteTableError(
    'list-without-param',
    [key],
    `\`params\` limits '${name}' to a list, and the pattern has no segment [${name}]`,
    `Write the list on an entry with [${name}]`,
  )
}

function checkList(key: string, name: string, list: unknown): void {
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
  if (Array.isArray(list) && list.length > 0 && list.every(isText)) return
  throw new RouteTableError(
    'bad-list',
    [key],
    `\`params\` limits '${name}' to something other than a list of texts, so that no URL would fit`,
    `Write the values that the URL may have: ${name}: ['a', 'b']`,
  )
}
