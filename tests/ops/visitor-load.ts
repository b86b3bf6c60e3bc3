import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { filledForm, formIn, type HtmlForm } from '../support/html-forms.ts'

const PAGES = [
  '/',
  '/docs/routes',
  '/lab/cache/a',
  '/lab/shared/a',
  '/lab/stream?delay=30',
  '/lab/params/7',
  '/lab/not-found',
] as const
const FORM = 'first'
/** For an answer that never comes; a busy machine may take long for one that does. */
const PATIENCE_MS = 30_000
/** Somebody whose request has failed does not ask again within the same millisecond. */
const PAUSE_MS = 250

/** What visitors have seen. */
interface LoadResult {
  /** Requests that were answered, good or bad. */
  readonly answered: number
  readonly posts: number
  /** One line for each request that failed: no answer, a cut answer, or a 5xx. */
  readonly failures: readonly string[]
  /** How many of the visitors those belong to. */
  readonly hurt: number
}

/** Visitors at work. */
interface VisitorLoad {
  /** Answers so far. */
  readonly answered: () => number
  /** Lets each visitor finish the request it is at. */
  stop(): Promise<LoadResult>
}

/** How visitors ask. */
interface LoadOptions {
  readonly origin: string
  /** Each has an address of its own, of the loopback's: 127.0.1.1 and on. */
  readonly visitors: number
  /** Every so manieth request of a visitor sends a form; 0 for none. */
  readonly postEvery: number
}

/** Visitors that keep their connection and ask one request after another until told to stop. */
export function startLoad({ origin, visitors, postEvery }: LoadOptions): VisitorLoad {
  const failures: string[] = []
  const hurt = new Set<number>()
  const seen = { answered: 0, posts: 0 }
  const stopped = new AbortController()

  async function visit(number: number): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.1.${number + 1}` })
    const asks = asker(origin, agent)
    try {
      for (let turn = number; !stopped.signal.aborted; turn += 1) {
        const posts = postEvery > 0 && turn % postEvery === 0
        const path = posts ? '/lab/guestbook' : (PAGES[turn % PAGES.length] ?? '/')
        try {
          const answer = await asks('GET', path)
          judge('GET', answer)
          if (posts) await sign(asks, answer.body)
        } catch (error) {
          failures.push(`${path}: ${error instanceof Error ? error.message : String(error)}`)
          hurt.add(number)
          await delay(PAUSE_MS)
        }
      }
    } finally {
      agent.destroy()
    }
  }

  async function sign(asks: Ask, html: string): Promise<void> {
    const { action, type, body } = filledForm(firstForm(html), { name: 'Load', message: 'Good morning' })
    const answer = await asks('POST', action, { type, body })
    judge('POST', answer)
    seen.posts += 1
  }

  function judge(method: string, { status, body, location }: Answer): void {
    seen.answered += 1
    const whole = location || body.includes('</html>')
    if (status >= 500 || status === 0 || !whole)
      throw new Error(`${method} status ${status}, ${body.length} characters`)
  }

  const all = Promise.all(Array.from({ length: visitors }, (_, number) => visit(number)))
  return {
    answered: () => seen.answered,
    async stop() {
      stopped.abort()
      await all
      return { ...seen, failures, hurt: hurt.size }
    },
  }
}

/** The guestbook's form comes before those that take entries back; it has no `id` of its own. */
function firstForm(html: string): HtmlForm {
  return formIn(html.replace('<form ', `<form id="${FORM}" `), FORM)
}

interface Answer {
  readonly status: number
  readonly body: string
  readonly location: boolean
}

type Ask = (method: string, path: string, form?: { readonly type: string; readonly body: string }) => Promise<Answer>

function asker(origin: string, agent: Agent): Ask {
  return (method, path, form) =>
    new Promise((resolve, reject) => {
      const headers =
        form === undefined
          ? {}
          : {
              'Content-Type': form.type,
              'Content-Length': Buffer.byteLength(form.body),
              Origin: origin,
              'Sec-Fetch-Site': 'same-origin',
            }
      const sent = request(new URL(path, origin), { method, agent, headers }, (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (part: string) => (body += part))
        response.on('error', reject)
        response.on('end', () => {
          if (response.complete)
            resolve({ status: response.statusCode ?? 0, body, location: 'location' in response.headers })
          else reject(new Error('the answer was cut off'))
        })
      })
      sent.on('error', reject)
      sent.setTimeout(PATIENCE_MS, () => sent.destroy(new Error('nothing came any more')))
      sent.end(form?.body)
    })
}
