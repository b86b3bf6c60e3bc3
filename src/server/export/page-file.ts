import { hash } from 'node:crypto'
import { escapeHtml } from '../../shared/escape-html.ts'
import { createRouteDataWriter } from '../../shared/protocol/encode-route-data.ts'

/**
 * Servers of files send `/mills` as `/mills/` or `/mills/index.html`. The page has been rendered for `/mills`, and hydration
 * must find the same path.
 */
const TIDY =
  '{const{origin,pathname:p,search,hash}=location,t=p.replace(/\\/(index\\.html)?$/,"")||"/";' +
  't!==p&&history.replaceState(history.state,"",origin+t+search+hash)}'
const TIDY_SOURCE = `'sha256-${hash('sha256', TIDY, 'base64')}'`

/** Directives that browsers refuse, with a complaint, in a `<meta>`. */
const OF_HEADERS = /^(?:frame-ancestors|report-uri|report-to|sandbox)\b/

const HEAD = /<head(?:\s[^>]*)?>(?:<meta charset="utf-8"\/?>)?/i

/**
 * Makes the file of a document: its policy is in it, before everything that it concerns, because file servers send no
 * headers of a page.
 * @param html as the server sends it.
 * @param policy its `Content-Security-Policy`.
 * @param tidies whether the page has one path. That of missing pages has none.
 */
export function fileOfDocument(html: string, policy: string | undefined, tidies: boolean): string {
  const script = tidies ? `<script>${TIDY}</script>` : ''
  return html.replace(HEAD, (start) => start + policyTag(policy, tidies) + script)
}

function policyTag(policy: string | undefined, tidies: boolean): string {
  if (policy === undefined) return ''
  const directives = policy
    .split(/;\s*/)
    .filter((directive) => directive !== '' && !OF_HEADERS.test(directive))
    .map((directive) => (tidies && directive.startsWith('script-src ') ? `${directive} ${TIDY_SOURCE}` : directive))
  return `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(directives.join('; '))}"/>`
}

/** A page that leads on. @param target as `Location` has it. */
export function fileOfRedirect(target: string): string {
  const to = escapeHtml(target)
  return (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"/>' +
    `<meta http-equiv="refresh" content="0;url=${to}"/><link rel="canonical" href="${to}"/>` +
    `<meta name="robots" content="noindex"/><title>${to}</title></head><body><a href="${to}">${to}</a></body></html>\n`
  )
}

/** The data of a page that the browser has to load as a document. */
export async function dataOfDocument(build: string): Promise<string> {
  let text = ''
  const writer = createRouteDataWriter((line) => (text += line), new AbortController().signal)
  writer.head({ build, document: true })
  await writer.finish()
  return text
}
