import type { PolicySources } from '../../api/define-app.ts'

/** The same as texts, each to be put behind what a policy says anyway. */
export interface AddedSources {
  /** Behind `script-src` of a document with a nonce. `'strict-dynamic'` takes no origins there. */
  readonly scripts: string
  /** Behind `script-src` of a document that has none. */
  readonly sharedScripts: string
  readonly styles: string
  readonly images: string
  /** Directives of their own, each with its `; ` behind it. */
  readonly others: string
}

/** `connect-src` and its kin fall back to `default-src 'self'` where they are not named. */
const OTHERS = ['connect-src', 'font-src', 'frame-src', 'media-src', 'worker-src'] as const

const NAMES: readonly string[] = [...OTHERS, 'img-src', 'script-src', 'style-src']

/** Nothing that could end a directive: a host may hold more characters than one would think. */
const HOST = /^(?:https?|wss?):\/\/(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?$/
const SCHEME = /^(?:blob|data|mediastream):$/

/** Lets WebAssembly be compiled; scripts are no freer for it. */
const WASM = "'wasm-unsafe-eval'"

/**
 * Checks what an application adds to the policy of its documents, and writes it down.
 * @throws {TypeError} for another directive, and for a source that is none or would let any script run.
 */
export function addedSources(sources: PolicySources = {}): AddedSources {
  for (const [directive, list] of Object.entries(sources)) {
    if (!NAMES.includes(directive)) {
      throw new TypeError(`security.sources: '${directive}' cannot be added to. These can: ${NAMES.join(', ')}.`)
    }
    for (const source of list) {
      if (HOST.test(source) || (directive === 'script-src' ? source === WASM : SCHEME.test(source))) continue
      throw new TypeError(
        `security.sources: ${directive} cannot have '${source}'. It takes origins without a path, like ` +
          `'https://images.example.com' or 'https://*.example.com', and ${directive === 'script-src' ? WASM : "'blob:' or 'data:'"}.`,
      )
    }
  }
  const { 'img-src': images = [], 'script-src': scripts = [], 'style-src': styles = [] } = sources
  return {
    scripts: behind(scripts.filter((source) => source === WASM)),
    sharedScripts: behind(scripts),
    styles: behind(styles),
    images: behind(images),
    others: OTHERS.map((name) => (sources[name]?.length ? `${name} 'self'${behind(sources[name])}; ` : '')).join(''),
  }
}

function behind(sources: readonly string[]): string {
  return sources.map((source) => ` ${source}`).join('')
}
