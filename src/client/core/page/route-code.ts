import type { ModuleFiles, SegmentFiles } from '../../../shared/protocol/segment-files.ts'
import type { SegmentFilesSource } from './segment-files.ts'
import type { ModuleCache } from '../../react/module-cache.ts'
import { shownChain, viewModules, type RouteView } from '../../react/route-view.ts'
import { preloadScripts } from './load-scripts.ts'
import type { Stylesheets } from './load-styles.ts'
import type { ModuleLoader } from '../../../shared/route-definition.ts'
import { RouteCancelled, RouteLoadError, urlIn } from '../../react/router-errors.ts'

/** Code and styles of a route that have not come by then: the browser itself may do better with a whole document. */
export const ROUTE_LOAD_TIMEOUT_MS = 3800

/** Which of a view's files are needed. */
type ViewShape = Pick<RouteView, 'chain' | 'outcome'>

/** Brings code and styles of routes. */
export interface RouteCode {
  /**
   * Loads modules and stylesheets of a view.
   * @throws {RouteLoadError} when something did not come, or not within `ROUTE_LOAD_TIMEOUT_MS`; for a stylesheet only once
   * the modules are here.
   */
  load(shape: ViewShape, signal?: AbortSignal): Promise<void>
  /**
   * Makes exactly the stylesheets of a view apply. Until the list of files has loaded, the page is the document's, and so
   * are its styles.
   */
  show(shape: ViewShape): void
  /**
   * Fetches the files ahead, at low priority. Never fails.
   * @param runs whether the modules are run as well: some browsers fetch ahead only what is.
   */
  preload(shape: ViewShape, runs?: boolean): Promise<void>
}

/** What it is made of. */
export interface RouteCodeParts {
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

  /** The first file that is not here. */
  function missingFile(shape: ViewShape, sort: keyof ModuleFiles): string {
    // The list of them is what has not come.
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
        styled.catch(() => undefined) // heard of below
        // A fallback is shown without its styles, too: who hears that those are missing has the code.
        loadModules(shape)
          .then(() => styled)
          .then(resolve, reject)
          .finally(() => clearTimeout(late))
      })
    },
    show(shape) {
      const { listed } = files
      // The last resort has no files of its own: it keeps what is on.
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
 * The files of everything that a view shows, in the order in which the server lists them.
 * @param counts leaves out the files of modules of which it says `false`.
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
