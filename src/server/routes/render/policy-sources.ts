import type { PolicySources } from '../../api/define-app.ts'

/** Added sources as texts, each to append to a directive of the runtime's policy. */
interface AddedSources {
  /** For `script-src` of a document with a nonce. `'strict-dynamic'` ignores origins there. */
  readonly scripts: string
  /** For `script-src` of a document without one. */
  readonly sharedScripts: string
  readonly styles: string
  readonly images: string
  /** Additional directives, each followed by `; `. */
  readonly others: string
}

/** `connect-src` and these others fall back to `default-src 'self'` if they are not named. */
const OTHERS = ['connect-src', 'font-src', 'frame-src', 'media-src', 'worker-src'] as const

const NAMES: readonly string[] = [...OTHERS, 'img-src', 'script-src', 'style-src']

/** Excludes characters that end a directive: URL hosts allow more of them than one would expect. */
const HOST = /^(?:https?|wss?):\/\/(?:\*\.)?[\w-]+(?:\.[\w-]+)*(?::\d{1,5})?$/
const SCHEME = /^(?:blob|data|mediastream):$/

/** Allows compiling WebAssembly; scripts get no further rights. */
const WASM = "'wasm-unsafe-eval'"
/** The hash of one inline script, in base64. */
const HASH = /^'sha(?:256-[\w+/]{43}=|384-[\w+/]{64}|512-[\w+/]{86}==)'$/

/**
 * Validates and formats an application's additions to the policy of its documents.
 * @throws {TypeError} for an unknown directive, and for a source that is invalid or would allow any script.
 */
export function addedSources(sources: PolicySources = {}): AddedSources {
  for (const [directive, list] of Object.entries(sources)) {
    if (!NAMES.includes(directive)) {
      throw new TypeError(`security.sources: '${directive}' cannot be added to. These can: ${NAMES.join(', ')}.`)
    }
    for (const source of list) {
      if (HOST.test(source) || (directive === 'script-src' ? isPrecise(source) : SCHEME.test(source))) continue
      throw new TypeError(
        `security.sources: ${directive} cannot have '${source}'. It takes origins without a path, like ` +
          `'https://images.example.com' or 'https://*.example.com', and ${directive === 'script-src' ? `${WASM} or the hash of an inline script, "'sha256-…'"` : "'blob:' or 'data:'"}.`,
      )
    }
  }
  const { 'img-src': images = [], 'script-src': scripts = [], 'style-src': styles = [] } = sources
  return {
    scripts: behind(scripts.filter(isPrecise)),
    sharedScripts: behind(scripts),
    styles: behind(styles),
    images: behind(images),
    others: OTHERS.map((name) => (sources[name]?.length ? `${name} 'self'${behind(sources[name])}; ` : '')).join(''),
  }
}

/** Whether a source of scripts names no origin: `'strict-dynamic'` honours it. */
function isPrecise(source: string): boolean {
  return source === WASM || HASH.test(source)
}

function behind(sources: readonly string[]): string {
  return sources.map((source) => ` ${source}`).join('')
}
