import type { Event } from '@sentry/react'
import { withoutUrlSecrets } from '../../shared/reports/url-secrets.ts'

/**
 * Attributes that are nothing but a query or a fragment, and the members of an object that was thrown or rejected: a form's
 * values, for example. The server leaves them out as well.
 */
const UNREPORTED_NAME = /^(?:http|url)\.(?:query|fragment)$|^query_string$|^__serialized__$/

/** The SDK's own objects, which are not sent. */
const UNSENT = 'sdkProcessingMetadata'

/**
 * Removes queries and fragments from all URLs in an event, an error or a transaction: also from messages, in which errors
 * of the router and of browsers name what did not load, and from breadcrumbs. The SDK removes some queries, but not all.
 * Removes the members of thrown objects, too.
 */
export function eventWithoutQueries<Reported extends Event>(event: Reported): Reported {
  return cut(event)
}

/** The SDK has made plain data of all values, but for its own objects. */
function cut<Value>(value: Value): Value {
  if (typeof value === 'string') return withoutUrlSecrets(value) as Value
  if (Array.isArray(value)) return value.map(cut) as Value
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([name]) => !UNREPORTED_NAME.test(name))
  return Object.fromEntries(
    entries.map(([name, one]) => [name, name === UNSENT ? one : (cut(one) as unknown)]),
  ) as Value
}
