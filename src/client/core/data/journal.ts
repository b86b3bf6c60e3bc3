import type { NavigationKind } from '../../react/router-types.ts'

/** A request for route data, for the inspector. Times in milliseconds since the epoch. */
export interface RequestRecord {
  readonly href: string
  /** Requested segments; `undefined` for all. */
  readonly wants: readonly string[] | undefined
  readonly prefetch: boolean
  readonly startedAt: number
  endedAt?: number
  /** 0 without an answer. */
  status: number
  failed?: string
}

/** A navigation, for the inspector. Times in milliseconds since the epoch. */
export interface NavigationRecord {
  readonly id: number
  readonly kind: NavigationKind
  readonly from: string
  to: string
  readonly startedAt: number
  /** When data, code and styles had loaded. */
  readyAt?: number
  endedAt?: number
  end?: 'commit' | 'cancel' | 'fail' | 'leave'
}

/** The last requests and navigations. Bound: 30 each. */
export interface Journal {
  readonly requests: readonly RequestRecord[]
  readonly navigations: readonly NavigationRecord[]
  request(record: RequestRecord): RequestRecord
  navigation(record: NavigationRecord): NavigationRecord
}

const MAX_RECORDS = 30

export function createJournal(): Journal {
  const requests: RequestRecord[] = []
  const navigations: NavigationRecord[] = []
  return {
    requests,
    navigations,
    request: (record) => add(requests, record),
    navigation: (record) => add(navigations, record),
  }
}

function add<Item>(list: Item[], record: Item): Item {
  list.push(record)
  if (list.length > MAX_RECORDS) list.shift()
  return record
}
