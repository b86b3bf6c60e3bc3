import { createCookieJar, setCookiesOf, type CookieJar } from './cookie-jar.ts'
import { FormError, type FieldValues } from './fill-form.ts'
import { readHtml, type HtmlPage } from './html-page.ts'
import { submitForm } from './submit-form.ts'

/** A page, and how it was answered. */
export interface VisitedPage extends HtmlPage {
  readonly status: number
  readonly headers: Headers
  /** Path and query, after redirects. */
  readonly url: string
  /** The `Set-Cookie` lines of this answer. */
  readonly setCookies: readonly string[]
  /**
   * Fills a form of this page in, sends it, and follows redirects.
   * @param selector of the form, or of one of its submit buttons.
   * @throws {FormError} if the selector does not match one form, and for values that the form cannot have.
   */
  submit(selector: string, values?: FieldValues): Promise<VisitedPage>
  /**
   * Follows a link of this page.
   * @throws {FormError} if the selector does not match a link of this site.
   */
  follow(selector: string): Promise<VisitedPage>
}

/** One visitor with a browser of their own, in which no script runs. */
export interface Visitor {
  readonly jar: CookieJar
  /** Opens a page, and follows redirects within the site. */
  get(path: string): Promise<VisitedPage>
  /**
   * Fills a form of a page in and sends it, as `page.submit` does; the page may be another visitor's, or changed by the
   * test.
   */
  submit(page: Pick<VisitedPage, 'html' | 'url'>, selector: string, values?: FieldValues): Promise<VisitedPage>
  /** Sends any request with the visitor's cookies, and keeps those of the answer; follows no redirect. */
  fetch(path: string, init?: RequestInit): Promise<Response>
}

/** Options of `createVisitor`. */
export interface VisitorOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Default: an empty one. */
  readonly jar?: CookieJar | undefined
}

/** A site: its origin, or an application that `createTestApp` or `startBuild` has made. */
export type Site = string | URL | { origin(): Promise<string> }

const MOST_REDIRECTS = 20 // as browsers

/**
 * Makes a visitor.
 * @param site `http://127.0.0.1:3000`, or a test app.
 */
export function createVisitor(
  site: Site,
  { headers: given = {}, jar = createCookieJar() }: VisitorOptions = {},
): Visitor {
  const originOf = async (): Promise<string> => {
    const origin = typeof site === 'string' || site instanceof URL ? site : await site.origin()
    return new URL(origin).origin
  }

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const origin = await originOf()
    const headers = new Headers({ ...given, ...jar.headers(path) })
    for (const [name, value] of new Headers(init.headers ?? {})) headers.set(name, value)
    const answer = await fetch(new URL(path, origin), { redirect: 'manual', ...init, headers })
    jar.keep(answer, path)
    return answer
  }

  async function visit(start: string, first: RequestInit): Promise<VisitedPage> {
    const origin = await originOf()
    let [path, init] = [start, first]
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects += 1) {
      const { headers, ...rest } = init
      const answer = await send(path, { ...rest, headers: { ...BROWSER, ...(headers as Record<string, string>) } })
      const target = redirectOf(answer, new URL(path, origin))
      if (target === undefined) return pageOf(answer, path)
      await answer.body?.cancel()
      const keeps = answer.status === 307 || answer.status === 308 || init.method === undefined
      path = target
      init = keeps ? init : {}
    }
    throw new Error(`${start} leads to more than ${MOST_REDIRECTS} redirects, at last to ${path}.`)
  }

  async function pageOf(answer: Response, url: string): Promise<VisitedPage> {
    const text = await answer.text()
    const isHtml = /^text\/html\b/i.test(answer.headers.get('content-type') ?? '')
    const page = await readHtml(isHtml ? text : '')
    return {
      ...page,
      html: text,
      status: answer.status,
      headers: answer.headers,
      url,
      setCookies: setCookiesOf(answer),
      submit: (selector, values) => submit({ html: text, url }, selector, values),
      async follow(selector) {
        const href = page.find(selector)?.attributes['href']
        const origin = await originOf()
        const target = href === undefined ? undefined : new URL(href, new URL(url, origin))
        if (target?.origin !== origin) throw new FormError(`${selector} of ${url} is not a link of this site.`)
        return visit(target.pathname + target.search, {})
      },
    }
  }

  async function submit(page: Pick<VisitedPage, 'html' | 'url'>, selector: string, values?: FieldValues) {
    const { url, method, headers, body } = await submitForm(page.html, selector, values, { page: page.url })
    if (/^https?:/i.test(url)) throw new FormError(`The form ${selector} leads to another site: ${url}`)
    if (body === undefined) return visit(url, {})
    return visit(url, { method, headers: { Origin: await originOf(), ...headers }, body })
  }

  return { jar, get: (path) => visit(path, {}), submit, fetch: send }
}

/** What a browser says of a click in the same site. */
const BROWSER = { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' } as const

/** Path and query of a redirect within the site; `undefined` for any other answer, and where another site begins. */
function redirectOf({ status, headers }: Response, here: URL): string | undefined {
  const location = headers.get('location')
  if (location === null || status < 300 || status > 399) return undefined
  const target = new URL(location, here)
  return target.origin === here.origin ? target.pathname + target.search : undefined
}
