import { readMediaType } from './header-parameters.ts'

const OF_BYTES = 'application/octet-stream'
const ESSENCE = /^[^/]+\/[^/]+$/
/**
 * Other characters cannot be sent in a header, or are space to some and letters to others. A type and its subtype have
 * 127 characters each at most (RFC 6838), and proxies take a few kilobytes of headers.
 */
const SENDABLE = /^[\t -~]{0,1000}$/

/** What browsers show without running anything in it. A name that ends in `+xml` is never among them. */
const PASSIVE: ReadonlySet<string> = new Set([
  OF_BYTES,
  'application/json',
  'application/pdf',
  'application/zip',
  ...['aac', 'flac', 'mp4', 'mpeg', 'ogg', 'wav', 'webm', 'x-wav'].map((name) => `audio/${name}`),
  ...['collection', 'otf', 'ttf', 'woff', 'woff2'].map((name) => `font/${name}`),
  ...['apng', 'avif', 'bmp', 'gif', 'heic', 'jpeg', 'png', 'tiff', 'vnd.microsoft.icon', 'webp', 'x-icon'].map(
    (name) => `image/${name}`,
  ),
  ...['css', 'csv', 'markdown', 'plain'].map((name) => `text/${name}`),
  ...['mp4', 'mpeg', 'ogg', 'quicktime', 'webm', 'x-matroska'].map((name) => `video/${name}`),
])

/** What browsers run as a script (WHATWG MIME Sniffing, section 4.6). */
const SCRIPT = /^(?:application|text)\/(?:x-)?(?:java|ecma)script$|^text\/(?:javascript1\.[0-5]|jscript|livescript)$/

/** What a browser may do with content of a type. */
type ContentRisk = 'passive' | 'active' | 'unclear'

/**
 * The type and subtype of a media type, in lower case and without parameters.
 * @returns `undefined` if it is not one media type: of two, browsers and others would choose different ones.
 */
export function essenceOf(mediaType: string): string | undefined {
  const value = SENDABLE.test(mediaType) ? readMediaType(mediaType)?.value : undefined
  return value !== undefined && ESSENCE.test(value) ? value : undefined
}

/** The media type of a file that a visitor sends: its essence, or that of unknown bytes. */
export function sentType(mediaType: string): string {
  return essenceOf(mediaType) ?? OF_BYTES
}

/**
 * Tells content that runs nothing from content that may be a document with scripts; `unclear` are texts that are no media
 * type, and parts that replace each other, of which each says what it is.
 */
export function contentRisk(mediaType: string): ContentRisk {
  const essence = essenceOf(mediaType)
  if (essence === undefined || essence.startsWith('multipart/')) return 'unclear'
  return PASSIVE.has(essence) ? 'passive' : 'active'
}

/** Whether a page could run content of a type by naming its URL. */
export function isScript(mediaType: string): boolean {
  return SCRIPT.test(essenceOf(mediaType) ?? '')
}
