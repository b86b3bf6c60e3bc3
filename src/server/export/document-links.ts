/** Attributes with one URL, by element. */
const URLS: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  area: ['href'],
  audio: ['src'],
  embed: ['src'],
  form: ['action'],
  iframe: ['src'],
  image: ['href'],
  img: ['src', 'srcset'],
  input: ['src'],
  link: ['href', 'imagesrcset'],
  object: ['data'],
  script: ['src'],
  source: ['src', 'srcset'],
  track: ['src'],
  use: ['href'],
  video: ['src', 'poster'],
}

/** Names of lists: `a.png 1x, b.png 2x`. */
const LISTS = new Set(['srcset', 'imagesrcset'])

const TAG =
  /<!--[^]*?-->|<(script|style|textarea|title)\b([^>]*)>[^]*?<\/\1\s*>|<([a-z][a-z\d:-]*)((?:"[^"]*"|'[^']*'|[^'">])*)>/gi
const ATTRIBUTE = /([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))/g

/** What `escapeHtml` and authors write for characters of URLs. */
const REFERENCES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&quot;': '"',
  '&#x27;': "'",
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
}

/** Everything to which a document leads or that it loads, as written, decoded. */
export function linksOf(html: string): ReadonlySet<string> {
  const links = new Set<string>()
  for (const [, raw, rawAttributes, plain, plainAttributes] of html.matchAll(TAG)) {
    const names = URLS[(raw ?? plain ?? '').toLowerCase()]
    if (names === undefined) continue
    for (const [, name = '', ...values] of (rawAttributes ?? plainAttributes ?? '').matchAll(ATTRIBUTE)) {
      const attribute = name.toLowerCase().replace(/^xlink:/, '')
      if (!names.includes(attribute)) continue
      const value = decoded(values.find((one) => one !== undefined) ?? '')
      if (!LISTS.has(attribute)) links.add(value)
      else
        for (const [url] of value.matchAll(/[^\s,]\S*[^\s,](?=[\s,]|$)/g))
          if (!/^[\d.]+[wxh]$/.test(url)) links.add(url)
    }
  }
  return links
}

function decoded(value: string): string {
  return value.replace(/&(?:amp|quot|#x27|#39|lt|gt);/g, (reference) => REFERENCES[reference] ?? reference)
}

/**
 * Paths of this site to which a link leads, percent-encoded, without query: as servers of files see the page with and without
 * a slash behind its path, which makes a difference for relative links.
 * @param page public path of the document.
 * @returns none for other sites, and for anything but a path.
 */
export function pathsOf(link: string, page: string): readonly string[] {
  const paths = new Set<string>()
  for (const base of [page, page.endsWith('/') ? page : `${page}/`]) {
    const url = URL.parse(link, `http://${HERE}${base}`)
    if (url?.host === HERE && /^https?:$/.test(url.protocol)) paths.add(url.pathname)
  }
  return link === '' || /^[?#]/.test(link) ? [] : [...paths]
}

/** A host of nobody (RFC 2606). */
const HERE = 'here.invalid'
