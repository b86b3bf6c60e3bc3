import type { ModuleLoader } from '../../shared/route-definition.ts'
import type { SegmentFiles, SegmentFilesSource } from './segment-files.ts'
import type { ModuleCache } from '../react/module-cache.ts'
import { shownChain, viewModules, type RouteView } from '../react/route-view.ts'
import { preloadScripts } from './load-scripts.ts'
import type { Stylesheets } from './load-styles.ts'
import { RouteCancelled, RouteLoadError } from './router-errors.ts'

/** Code and styles of a route that have not come by then: the browser itself may do better with a whole document. */
export const ROUTE_LOAD_TIMEOUT_MS = 3800

/** Which of a view's files are needed. */
type ViewShape = Pick<RouteView, 'chain' | 'outcome'>

/** Brings code and styles of routes. */
export interface RouteCode {
  /**
   * Loads modules and stylesheets of a view.
   * @returns what must be switched on when it is shown.
   * @throws {RouteLoadError} when something did not come, or not within `ROUTE_LOAD_TIMEOUT_MS`.
   */
  load(shape: ViewShape, signal: AbortSignal): Promise<readonly string[]>
  /** Fetches the files ahead, at low priority. Never fails. */
  preload(shape: ViewShape): Promise<void>
}

/** What it is made of. */
export interface RouteCodeParts {
  readonly document: Document
  readonly modules: ModuleCache
  readonly files: SegmentFilesSource
  readonly styles: Stylesheets
}

export function createRouteCode({ document, modules, files, styles }: RouteCodeParts): RouteCode {
  async function loadModules(shape: ViewShape, known: Promise<SegmentFiles | undefined>): Promise<void> {
    const loading = modules.load(viewModules(shape))
    if (loading === undefined) return
    void known.then((listed) => listed && preloadScripts(document, filesOf(shape, listed, 'scripts'), 'high'))
    try {
      await loading
    } catch (cause) {
      throw new RouteLoadError('script', (await scriptOf(shape, known)) ?? 'unknown', { cause })
    }
  }

  async function scriptOf(shape: ViewShape, known: Promise<SegmentFiles | undefined>): Promise<string | undefined> {
    const listed = await Promise.race([known, undefined])
    const missing: readonly ModuleLoader[] = viewModules(shape).filter((loader) => modules.get(loader) === undefined)
    return (
      listed &&
      named(shape).flatMap(([key, kind, loader]) =>
        loader !== undefined && missing.includes(loader) ? (listed.of(key, kind)?.scripts ?? []) : [],
      )[0]
    )
  }

  async function loadStyles(
    shape: ViewShape,
    known: Promise<SegmentFiles | undefined>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const listed = await known
    if (listed === undefined) throw new RouteLoadError('stylesheet', 'list of files')
    const hrefs = filesOf(shape, listed, 'styles')
    await styles.load(hrefs, signal).catch((cause: unknown) => {
      const url = cause instanceof Error ? /: (.*)$/.exec(cause.message)?.[1] : undefined
      throw new RouteLoadError('stylesheet', url ?? hrefs.join(', '), { cause })
    })
    return hrefs
  }

  return {
    load(shape, signal) {
      const known = files.get().catch(() => undefined)
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          const scripts = viewModules(shape).some((loader) => modules.get(loader) === undefined)
          const part = scripts ? 'script' : 'stylesheet'
          void Promise.race([known, undefined]).then((listed) => {
            const [url] = listed === undefined ? [] : filesOf(shape, listed, scripts ? 'scripts' : 'styles')
            reject(new RouteLoadError(part, url ?? 'list of files'))
          })
        }, ROUTE_LOAD_TIMEOUT_MS)
        signal.addEventListener('abort', () => reject(new RouteCancelled()), { once: true })
        Promise.all([loadStyles(shape, known, signal), loadModules(shape, known)])
          .then(([hrefs]) => resolve(hrefs), reject)
          .finally(() => clearTimeout(late))
      })
    },
    async preload(shape) {
      const listed = await files.get().catch(() => undefined)
      if (listed === undefined) return
      preloadScripts(document, filesOf(shape, listed, 'scripts'), 'low')
      styles.preload(filesOf(shape, listed, 'styles'))
    },
  }
}

/** Entry, kind and module of everything a view shows, in the order in which the server lists their files. */
function named({ chain, outcome }: ViewShape): readonly (readonly [string, string, ModuleLoader | undefined])[] {
  const shown = shownChain({ chain, ...(outcome === undefined ? {} : { outcome }) })
  const leaf = outcome === undefined ? chain.at(-1) : chain[outcome.at]
  const kind = outcome === undefined ? 'page' : outcome.kind
  return [
    ...shown.flatMap(({ key, definition }) => [
      [key, 'layout', definition.layout] as const,
      [key, 'loading', definition.loading] as const,
    ]),
    ...(leaf === undefined ? [] : [[leaf.key, kind, leaf.definition[kind]] as const]),
  ]
}

function filesOf(shape: ViewShape, files: SegmentFiles, sort: 'scripts' | 'styles'): readonly string[] {
  return [...new Set(named(shape).flatMap(([key, kind]) => files.of(key, kind)?.[sort] ?? []))]
}
