import type { AssetManifest, SegmentAssets } from '../../../src/server/assets/manifest.ts'
import { actionSegments } from '../../build/output/action-segments.ts'
import { SERVER_KINDS } from '../../build/project/table-modules.ts'
import { browserEntry, metafileKey } from '../../build/bundle-options.ts'
import type { StyleGroup } from '../../build/assets/style-groups.ts'
import type { DevGeneration } from './dev-build.ts'
import { DEV_ENTRY, stylePath } from './module-server.ts'
import type { ModuleUrls } from './module-urls.ts'

/** One constant id: a page must not treat a save as a new build and reload. */
export const DEV_BUILD_ID = 'development'

/** As the production manifest, with the URLs of single modules and stylesheets in the same order. */
export function devManifest(
  { context, browser, sources, styles, vendors }: DevGeneration,
  urls: ModuleUrls,
): AssetManifest {
  const stylesheets = (groups: readonly StyleGroup[]) =>
    groups.flatMap(({ files }) => files.map((file) => urls.publicPath(stylePath(file))))
  const describe = (source: string): SegmentAssets => ({
    scripts: [urls.urlOf(source)],
    styles: stylesheets(styles.modules.get(source) ?? []),
  })
  const entryKey = metafileKey(context.root, browserEntry(context))
  const segments = Object.entries(sources).map(([pattern, kinds]) => {
    const browserKinds = Object.entries(kinds).filter(([kind]) => !SERVER_KINDS.has(kind))
    return [pattern, Object.fromEntries(browserKinds.map(([kind, source]) => [kind, describe(source)]))] as const
  })
  return {
    buildId: DEV_BUILD_ID,
    entry: urls.publicPath(DEV_ENTRY),
    entryImports: [urls.publicPath(vendors.devClient), urls.urlOf(entryKey)],
    entryStyles: stylesheets(styles.entry),
    segments: Object.fromEntries(segments.filter(([, kinds]) => Object.keys(kinds).length > 0)),
    actionSegments: actionSegments(browser, entryKey, sources),
  }
}
