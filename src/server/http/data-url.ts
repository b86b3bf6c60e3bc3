import { decodeSegment } from '../../shared/route-segment.ts'
import { MAX_SEGMENTS, ROUTE_DATA_PREFIX, SEGMENTS_PARAM } from '../../shared/protocol/route-data.ts'

/** The parsed URL of a request for route data. */
interface DataUrl {
  /** Of the page, still percent-encoded. */
  readonly pathname: string
  /** Of the page: the query without the runtime's parameters, otherwise byte for byte. */
  readonly search: string
  /** Ids of the requested segments, without duplicates; absent for all segments of the page. */
  readonly segments?: readonly string[]
  /** Set if an id does not decode, or there are too many. */
  readonly fault?: string
}

const DATA_FOLDER = `${ROUTE_DATA_PREFIX}/`

/**
 * Parses the URL of a request for route data.
 * @param pathname for which `isDataPath` holds, as normalised by the guard.
 * @param search `''` or with its question mark.
 */
export function readDataUrl(pathname: string, search: string): DataUrl {
  const page = pathname.slice(ROUTE_DATA_PREFIX.length) || '/'
  if (!search.includes(SEGMENTS_PARAM)) return { pathname: page, search }

  const rest: string[] = []
  const named: string[] = []
  for (const pair of search.slice(1).split('&')) {
    if (pair === SEGMENTS_PARAM) named.push('')
    else if (pair.startsWith(`${SEGMENTS_PARAM}=`)) named.push(pair.slice(SEGMENTS_PARAM.length + 1))
    else rest.push(pair)
  }
  const query = rest.join('&')
  const url = { pathname: page, search: query === '' ? '' : `?${query}` }
  return named.length === 0 ? url : { ...url, ...readSegments(named) }
}

/** Whether a path is one of route data: the prefix alone, or followed by a path. */
export function isDataPath(pathname: string): boolean {
  return pathname === ROUTE_DATA_PREFIX || pathname.startsWith(DATA_FOLDER)
}

function readSegments(named: readonly string[]): Pick<DataUrl, 'segments' | 'fault'> {
  if (named.length > MAX_SEGMENTS) return { fault: `more than ${MAX_SEGMENTS} segments` }
  const segments = new Set<string>()
  for (const text of named) {
    const id = decodeSegment(text)
    if (id === undefined) return { fault: 'a segment that does not decode' }
    // An empty `_m=` adds no id: it only marks that the list is given, even if empty.
    if (id !== '') segments.add(id)
  }
  return { segments: [...segments] }
}
