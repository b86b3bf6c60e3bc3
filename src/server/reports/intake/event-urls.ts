/**
 * Removes what is private in the URLs that Millrace's own browser code puts into events: the recorder's are whole, to
 * save bytes in every document, and former builds wrote them into messages of the router. What applications write into events
 * of their SDK is theirs.
 */
import { isRecord } from '../../../shared/reports/json-values.ts'
import { withoutUrlSecrets } from '../../../shared/reports/url-secrets.ts'

type Json = Readonly<Record<string, unknown>>

/** `RouteLoadError`, `RedirectLoopError`. */
const ROUTER_MESSAGE = /^(?:Failed to load (?:script|stylesheet|route data): |Too many redirects from )/

/** Characters of all such texts of an event. Each word is searched three times, and two megabytes are a million words. */
const MOST_CHARACTERS = 65_536

/** An event without them; the same object if it has none. Of longer texts only the beginning stays. */
export function eventWithoutUrlSecrets(event: Json): Json {
  const { exception, extra } = event
  if (!isRecord(exception) || !Array.isArray(exception['values'])) return event
  const isRecorders = event['platform'] === 'javascript' && event['event_id'] === undefined
  const former: readonly unknown[] = exception['values']
  let left = MOST_CHARACTERS
  const pureText = (text: string): string => {
    const searched = text.slice(0, left)
    left -= searched.length
    return withoutUrlSecrets(searched).toWellFormed() + (searched.length < text.length ? '…' : '')
  }
  const values = former.map((one) => {
    const { value } = isRecord(one) ? one : {}
    const isOurs = typeof value === 'string' && (isRecorders || ROUTER_MESSAGE.test(value))
    return isOurs ? changed(one as Json, 'value', pureText(value)) : one
  })
  const stack = isRecorders && isRecord(extra) ? extra['stack'] : undefined
  const pure = values.every((one, at) => one === former[at]) ? event : { ...event, exception: { ...exception, values } }
  return typeof stack === 'string' ? changed(pure, 'extra', changed(extra as Json, 'stack', pureText(stack))) : pure
}

/** The same object if the member is equal. */
function changed(object: Json, name: string, value: unknown): Json {
  return object[name] === value ? object : { ...object, [name]: value }
}
