import type { HrefSearch } from '../../shared/href.ts'
import type { RouteView } from '../react/route-view.ts'
import type { NavigateOptions, NavigationKind, Router } from '../react/router-types.ts'
import { withoutDefaults } from '../react/search-defaults.ts'

/** A change of the search params of a page. */
interface SearchChange {
  /** The last view of the page that the component has rendered. */
  readonly of: RouteView
  /** All params, or a function of the former ones. */
  readonly next: HrefSearch | ((search: never) => HrefSearch)
  readonly defaults: HrefSearch | undefined
  readonly options: NavigateOptions | undefined
}

/** What a change has asked for. */
interface AskedSearch {
  readonly href: string
  readonly kind: NavigationKind
  /** What the schema will make of it; `undefined` if only the server knows. */
  readonly search: unknown
}

type SearchQuery = Pick<AskedSearch, 'search'> & { readonly query: string }

type SearchSetter = (change: SearchChange) => void

const setters = new WeakMap<Router, SearchSetter>()

/** The setter of a router. Create it before its page can be left. */
export function searchSetterOf(router: Router): SearchSetter {
  const setter = setters.get(router) ?? createSearchSetter(router)
  setters.set(router, setter)
  return setter
}

/**
 * Changes search params from where the router is heading: a navigation that a blocker holds, else the one in progress,
 * else the page on screen.
 *
 * | the page of the component                              | a change                            |
 * |--------------------------------------------------------|-------------------------------------|
 * | is on screen, and stays                                | happens                             |
 * | the same, with params that only the server knows yet   | waits for them, if it needs them    |
 * | is about to come on screen                             | waits until it is                   |
 * | stays if the visitor heeds a blocker                   | waits for the decision              |
 * | is being left, or has been left, even if it came again | does nothing                        |
 *
 * A change to the search params that are there, or on their way, does nothing either.
 */
function createSearchSetter(router: Router): SearchSetter {
  const visits = new WeakMap<RouteView, object>()
  let visit = {}
  let path = ''
  let asked: AskedSearch | undefined
  let lastId = 0
  /** The last change that has replaced all search params: those that wait since before it are void. */
  let lastWhole = 0

  function follow(): void {
    const { href, view } = router.screen
    if (pathOf(href) !== path) visit = {}
    path = pathOf(href)
    visits.set(view, visit)
  }

  /** @param overtaken a navigation that would not have come on screen if its search params had been known. */
  function set(change: SearchChange, id: number, overtaken?: string): void {
    const { screen, blocked, navigation } = router
    const running = navigation?.slow === undefined ? undefined : navigation.target
    // The router queues what it is asked for before its code has loaded.
    const target = blocked ?? (navigation ? running : asked)
    const { href } = target ?? screen
    const own = href === asked?.href ? asked : undefined
    const known = href === screen.href ? screen.view : own?.search === undefined ? undefined : own
    const visited = visits.get(change.of)
    const isUndecided = blocked !== undefined && own === undefined
    const wait = (awaited = overtaken): void => {
      const stop = router.subscribe(() => {
        stop()
        queueMicrotask(() => id > lastWhole && set(change, id, awaited))
      })
    }
    if (visited !== undefined && (visited !== visit || !(isUndecided || pathOf(href) === path))) return
    if (visited === undefined || isUndecided) return wait()
    const isWhole = typeof change.next !== 'function'
    const made = isWhole || known ? searchQuery(change, (known ?? screen.view).search, known === own) : undefined
    if (!made) return wait(target?.kind === 'push' ? href : undefined)
    if (isWhole) lastWhole = id
    if (path + made.query === href) return
    const { options } = change
    // As if the navigation that this one overtakes had come on screen.
    const replace = overtaken === screen.href || (options?.replace === true && target?.kind !== 'push')
    asked = { href: path + made.query, kind: replace ? 'replace' : 'push', search: made.search }
    router.navigate(asked.href, { ...options, scroll: !!options?.scroll, replace })
  }

  follow()
  router.subscribe(follow)
  return (change) => set(change, (lastId += 1))
}

/**
 * The query for a change, and what the schema will make of it, as far as the browser can know.
 * @param isGuess whether `former` was made here.
 * @returns `undefined` for an update to which a guess means nothing.
 */
function searchQuery(change: SearchChange, former: unknown, isGuess: boolean): SearchQuery | undefined {
  const { defaults } = change
  const members = membersOf(change, former, isGuess)
  if (!members) return undefined
  const search: Record<string, unknown> = { ...defaults }
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) search[name] = value
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) params.append(name, String(item))
    }
  }
  // A schema may have a default for what is missing, and return a different type than it takes.
  const isSure = Object.entries(former ?? {}).every(([name, value]) => typeof value === typeof search[name])
  return { query: withoutDefaults(params, defaults), search: isSure ? search : undefined }
}

function membersOf({ next }: SearchChange, former: unknown, isGuess: boolean): HrefSearch | undefined {
  if (typeof next !== 'function') return next
  try {
    return next(former as never)
  } catch (thrown) {
    // A param that was absent before may have a different type than it was given.
    if (isGuess) return undefined
    throw thrown
  }
}

function pathOf(href: string): string {
  return href.split(/[?#]/, 1)[0] ?? href
}
