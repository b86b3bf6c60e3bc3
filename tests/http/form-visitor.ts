/** A visitor without script: gets pages, keeps cookies, fills forms in and sends them as a browser would. */

/** A page, and how it came. */
export interface VisitedPage {
  readonly status: number
  readonly headers: Headers
  /** The cookies that it has set, as they came. */
  readonly setCookies: readonly string[]
  readonly html: string
  /** Path and query after redirects. */
  readonly url: string
  /** Text of the element with this `data-testid`, tags taken out; `undefined` without one. */
  text(testId: string): string | undefined
}

/** One browser profile. */
export interface FormVisitor {
  get(path: string): Promise<VisitedPage>
  /**
   * Sends the form that holds the text `holding`, with its hidden fields, and follows a redirect.
   * @param fields what is typed; other fields keep what the page has put there.
   * @throws {Error} where no form of the page holds the text.
   */
  submit(page: VisitedPage, holding: string, fields?: Readonly<Record<string, string | File>>): Promise<VisitedPage>
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
}

/**
 * Makes a visitor of the server at this origin.
 * @param browser headers that go with every request.
 */
export function formVisitor(origin: string, browser: Readonly<Record<string, string>> = {}): FormVisitor {
  const cookies = new Map<string, string>()

  async function request(path: string, init: RequestInit = {}): Promise<VisitedPage> {
    const headers = new Headers({ Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin', ...browser, ...init.headers })
    if (cookies.size > 0) headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(origin + path, { ...init, headers, redirect: 'manual' })
    const setCookies = answer.headers.getSetCookie()
    for (const cookie of setCookies) keep(cookie)
    const location = answer.headers.get('location')
    if (location !== null && answer.status >= 300 && answer.status < 400) {
      await answer.text()
      const { pathname, search } = new URL(location, origin + path)
      return request(pathname + search)
    }
    const html = await answer.text()
    const { status } = answer
    return { status, headers: answer.headers, setCookies, html, url: path, text: (testId) => textOf(html, testId) }
  }

  function keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
    if (/max-age=0|expires=thu, 01 jan 1970/i.test(cookie)) cookies.delete(name)
    else cookies.set(name, value)
  }

  return {
    get: (path) => request(path),
    submit(page, holding, fields = {}) {
      const form = page.html.match(/<form\b.*?<\/form>/gs)?.find((text) => text.includes(holding))
      if (form === undefined) throw new Error(`No form of ${page.url} holds ${holding}`)
      const body = new FormData()
      for (const [name, value] of hiddenFields(form)) body.append(name, value)
      for (const [name, value] of Object.entries(fields)) body.append(name, value)
      const action = attribute(/<form\b[^>]*>/.exec(form)?.[0] ?? '', 'action') ?? page.url
      return request(action, { method: 'POST', body, headers: { Origin: origin } })
    },
  }
}

function hiddenFields(form: string): (readonly [string, string])[] {
  return [...form.matchAll(/<input\b[^>]*>/g)].flatMap(([tag]) => {
    const name = attribute(tag, 'name')
    return name === undefined || attribute(tag, 'type') !== 'hidden' ? [] : [[name, attribute(tag, 'value') ?? '']]
  })
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : decode(value)
}

function textOf(html: string, testId: string): string | undefined {
  const [open, tag] = new RegExp(`<(\\w+)\\b[^>]*data-testid="${testId}"[^>]*>`).exec(html) ?? []
  if (open === undefined) return undefined
  const rest = html.slice(html.indexOf(open) + open.length)
  return decode(rest.slice(0, rest.indexOf(`</${tag}>`)).replaceAll(/<!--.*?-->|<[^>]*>/gs, ''))
}

function decode(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => ENTITIES[entity] ?? entity)
}
