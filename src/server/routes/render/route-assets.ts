import { escapeHtml } from '../../../shared/escape-html.ts'
import { shownChain, type RouteView } from '../../../client/react/route-view.ts'
import type { AssetManifest } from '../../assets/manifest.ts'
import type { PageRecorder } from '../../reports/sdk/page-recorder.ts'
import type { DocumentPolicies } from './document-policy.ts'
import type { EnvBlock } from './env-block.ts'
import type { ImportMap } from './import-map.ts'

/** The assets of a document in its first bytes. */
export interface DocumentAssets {
  /**
   * Tags for the start of `<head>`.
   * @param late whether values follow that JSON cannot represent.
   * @param first markup before all stylesheets.
   */
  head(nonce: string, late: boolean, first?: string): string
  /** Value of the `Link` header, or `undefined`. */
  link(nonce: string): string | undefined
  /** The tag that starts hydration, or `''` if nothing hydrates. */
  bootstrap(nonce: string): string
  /** Identifies the parts that all documents of a build share, for `documentTag`. */
  readonly build: string
  /** @param secure whether visitors use https. */
  policiesFor(secure: boolean): DocumentPolicies
}

/** Markup that all documents of an application share. */
export interface SharedMarkup {
  readonly recorder?: PageRecorder | undefined
  /** The integrity of each script, including those that no tag names. */
  readonly importMap?: ImportMap | undefined
  /** The public configuration, if there is any. */
  readonly envBlock?: EnvBlock | undefined
  /** As `DocumentAssets.policiesFor`. */
  readonly policiesFor: (secure: boolean) => DocumentPolicies
}

const META = '<meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>'
const NONCE_MARK = '%NONCE%'

/**
 * Computes the tags once per shape of view; the result is kept as long as the chain of its route. Bound: the boundaries
 * of the table, for each of its routes.
 */
export function createDocumentAssets(
  manifest: AssetManifest,
  shared: SharedMarkup,
): (view: RouteView) => DocumentAssets {
  const known = new WeakMap<RouteView['chain'], Map<string, DocumentAssets>>()
  const build = manifest.buildId + (shared.recorder?.source ?? '') + (shared.envBlock?.hash ?? '')
  return (view) => {
    const { chain, outcome } = view
    let byOutcome = known.get(chain)
    if (byOutcome === undefined) known.set(chain, (byOutcome = new Map()))
    const shown = outcome === undefined ? '' : `${outcome.kind} ${outcome.at}`
    let assets = byOutcome.get(shown)
    if (assets === undefined) {
      assets = { ...describeAssets(view, manifest, shared), build }
      byOutcome.set(shown, assets)
    }
    return assets
  }
}

function describeAssets(
  view: RouteView,
  manifest: AssetManifest,
  { recorder, importMap, envBlock, policiesFor }: SharedMarkup,
): Omit<DocumentAssets, 'build'> {
  const scripts = new Set<string>()
  const styles = new Set(manifest.entryStyles)
  if (manifest.entry !== undefined) {
    scripts.add(manifest.entry)
    for (const file of manifest.entryImports) scripts.add(file)
  }
  const shown = shownChain(view)
  for (const { key } of shown) {
    for (const kind of ['layout', 'loading']) addFiles(manifest.segments[key]?.[kind], scripts, styles)
  }
  const { outcome } = view
  const leaf = outcome === undefined ? view.chain.at(-1) : view.chain[outcome.at]
  if (leaf !== undefined) addFiles(manifest.segments[leaf.key]?.[outcome?.kind ?? 'page'], scripts, styles)

  const styleTags = [...styles].map(
    (href) => `<link rel="stylesheet" href="${escapeHtml(href)}" data-precedence="route"/>`,
  )
  const hydrates = manifest.entry !== undefined
  const integrityOf = (href: string): string => manifest.integrity?.[href] ?? ''
  // Chromium ignores the import map for preloads, and would load the script twice.
  const integrityAttribute = (href: string): string => {
    const integrity = integrityOf(href)
    return integrity === '' ? '' : ` integrity="${integrity}"`
  }
  const preload = (href: string): string =>
    `<link rel="modulepreload" href="${escapeHtml(href)}" fetchpriority="low" nonce="${NONCE_MARK}"${integrityAttribute(href)}/>`
  const preloads = hydrates ? [...scripts].map(preload) : []
  const decoder = hydrates ? (manifest.valueDecoder ?? []).filter((file) => !scripts.has(file)).map(preload) : []
  // Before everything that may fail.
  const record = recorder === undefined ? '' : `<script nonce="${NONCE_MARK}">${recorder.script}</script>`
  // An import map applies only to modules that are loaded after it.
  const map = importMap === undefined ? '' : `<script type="importmap" nonce="${NONCE_MARK}">${importMap.text}</script>`
  const head = (envBlock?.element ?? '') + map + record + styleTags.join('') + preloads.join('')
  // Only what must load first; the other tags are in the same packet, and long headers cost every answer.
  const link = [
    ...[...styles].map((href) => `<${href}>; rel=preload; as=style`),
    // A header is processed before the map, and after a module has loaded, many browsers ignore an import map.
    ...(hydrates && importMap === undefined ? [linkOf(manifest.entry ?? '', integrityOf(manifest.entry ?? ''))] : []),
  ].join(', ')
  const bootstrap = hydrates
    ? `<script type="module" async src="${escapeHtml(manifest.entry ?? '')}" nonce="${NONCE_MARK}"${integrityAttribute(manifest.entry ?? '')}></script>`
    : ''
  const plain = stamp(head)
  const withDecoder = stamp(head + decoder.join(''))
  return {
    head: (nonce, late, first = '') => META + first + (late ? withDecoder(nonce) : plain(nonce)),
    link: link === '' ? () => undefined : stamp(link),
    bootstrap: stamp(bootstrap),
    policiesFor,
  }
}

function linkOf(entry: string, integrity: string): string {
  const must = integrity === '' ? '' : `; integrity="${integrity}"`
  return `<${entry}>; rel=modulepreload; fetchpriority=low; nonce="${NONCE_MARK}"${must}`
}

const NONCE_ATTRIBUTE = new RegExp(`;? nonce="${NONCE_MARK}"`, 'g')

/**
 * Inserts the nonce; without one, no attribute is left. Not by `join`, which copies the text; what is added up is copied
 * once, with the whole document.
 */
function stamp(template: string): (nonce: string) => string {
  const [first = '', ...rest] = template.split(NONCE_MARK)
  const without = template.replaceAll(NONCE_ATTRIBUTE, '')
  return (nonce) => {
    if (nonce === '') return without
    let text = first
    for (const part of rest) text += nonce + part
    return text
  }
}

function addFiles(
  files: AssetManifest['segments'][string][string] | undefined,
  scripts: Set<string>,
  styles: Set<string>,
): void {
  for (const file of files?.scripts ?? []) scripts.add(file)
  for (const file of files?.styles ?? []) styles.add(file)
}
