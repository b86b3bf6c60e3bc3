import type { ModuleFiles, SegmentFiles } from '../../../shared/protocol/segment-files.ts'
import type { SegmentFilesSource } from './segment-files.ts'
import type { ModuleCache } from '../../react/module-cache.ts'
import { shownChain, viewModules, type RouteView } from '../../react/route-view.ts'
import { preloadScripts } from './load-scripts.ts'
import type { Stylesheets } from './load-styles.ts'
import type { ModuleLoader } from '../../../shared/route-definition.ts'
import { RouteCancelled, RouteLoadError, urlIn } from '../../react/router-errors.ts'

/** Limit for a route's code and styles, in ms: after that, the browser loads the whole document instead. */
const ROUTE_LOAD_TIMEOUT_MS = 3800

/** The parts of a view that determine its files. */
type ViewShape = Pick<RouteView, 'chain' | 'outcome'>

/** Loads code and styles of routes. */
export interface RouteCode {
  /**
   * Loads modules and stylesheets of a view.
   * @throws {RouteLoadError} if something does not load within `ROUTE_LOAD_TIMEOUT_MS`; for a stylesheet only after the
   * modules have loaded.
   */
  load(shape: ViewShape, signal?: AbortSignal): Promise<void>
  /**
   * Applies exactly the stylesheets of a view. Until the list of files has loaded, page and styles are the document's.
   */
  show(shape: ViewShape): void
  /**
   * Prefetches the files, at low priority. Never fails.
   * @param runs whether to run the modules as well: some browsers prefetch only modules that run.
   */
  preload(shape: ViewShape, runs?: boolean): Promise<void>
}

/** What it is made of. */
interface RouteCodeParts {
  readonly document: Document
  readonly modules: ModuleCache
  readonly files: SegmentFilesSource
  readonly styles: Stylesheets
}

export function createRouteCode({ document, modules, files, styles }: RouteCodeParts): RouteCode {
  async function loadModules(shape: ViewShape): Promise<void> {
    const loading = modules.load(viewModules(shape))
    if (loading === undefined) return
    files.get().then(
      (listed) => preloadScripts(document, filesOf(shape, listed, 'scripts'), 'high'),
      () => undefined,
    )
    try {
      await loading
    } catch (cause) {
      throw new RouteLoadError('script', urlIn(cause) ?? missingFile(shape, 'scripts'), { cause })
    }
  }

  async function loadStyles(shape: ViewShape): Promise<void> {
    const listed = await files.get().catch((cause: unknown) => {
      throw new RouteLoadError('stylesheet', files.url, { cause })
    })
    await styles.load(filesOf(shape, listed, 'styles'))
  }

  /** The first file that has not loaded. */
  function missingFile(shape: ViewShape, sort: keyof ModuleFiles): string {
    // The list of files itself has not loaded.
    if (!files.listed) return files.url
    const isMissing = (loader: ModuleLoader | undefined): boolean => !loader || modules.get(loader) === undefined
    const named = filesOf(shape, files.listed, sort, sort === 'scripts' ? isMissing : undefined)
    const isComing = (href: string): boolean =>
      !document.querySelector<HTMLLinkElement>(`link[rel=stylesheet][href="${CSS.escape(href)}"]`)?.sheet
    return (sort === 'styles' ? named.find(isComing) : named[0]) ?? files.url
  }

  return {
    load(shape, signal) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => {
          const isScript = viewModules(shape).some((loader) => modules.get(loader) === undefined)
          const [part, sort] = isScript ? (['script', 'scripts'] as const) : (['stylesheet', 'styles'] as const)
          reject(new RouteLoadError(part, missingFile(shape, sort)))
        }, ROUTE_LOAD_TIMEOUT_MS)
        signal?.addEventListener('abort', () => reject(new RouteCancelled()))
        const styled = loadStyles(shape)
        styled.catch(() => undefined) // handled below
        // A fallback is shown even without its styles: when they fail, its code has loaded.
        loadModules(shape)
          .then(() => styled)
          .then(resolve, reject)
          .finally(() => clearTimeout(late))
      })
    },
    show(shape) {
      const { listed } = files
      // The last resort has no files of its own: it keeps the current styles.
      if (listed && shape.outcome?.at !== -1) styles.show(filesOf(shape, listed, 'styles'), listed.names)
    },
    preload: (shape, runs) =>
      files
        .get()
        .then((listed) => {
          preloadScripts(document, filesOf(shape, listed, 'scripts'), 'low')
          styles.preload(filesOf(shape, listed, 'styles'))
          return runs ? modules.load(viewModules(shape)) : undefined
        })
        .catch(() => undefined),
  }
}

/**
 * The files of everything that a view shows, in the order of the server's list.
 * @param counts leaves out the files of modules for which it returns `false`.
 */
function filesOf(
  shape: ViewShape,
  listed: SegmentFiles,
  sort: keyof ModuleFiles,
  counts: (loader: ModuleLoader | undefined) => boolean = () => true,
): readonly string[] {
  const files = shownChain(shape).flatMap(({ key, definition }, at, { length }) => {
    const leaf = at === length - 1 ? [shape.outcome?.kind ?? ('page' as const)] : []
    return (['layout', 'loading', ...leaf] as const).flatMap((kind) =>
      counts(definition[kind]) ? (listed.of(key, kind)?.[sort] ?? []) : [],
    )
  })
  return [...new Set(files)]
}
