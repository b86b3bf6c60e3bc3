/** What a form of another site gets, which carries no session cookie: nothing that says to all tabs that nobody is signed in. */
import request from 'supertest'
import { expect, test } from 'vitest'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const FOREIGN = { Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' }

function site() {
  const ran: string[] = []
  const { app } = tinyApp({
    routes: {
      '/': {
        layout: moduleOf({
          default: ({ children }: { readonly children?: unknown }) => <main>{children as string}</main>,
        }),
        layoutLoader: moduleOf({ loader: ({ request: { method } }: { request: Request }) => void ran.push(method) }),
        page: page(() => <p>home</p>),
        notFound: moduleOf({ default: () => <p>the application’s own page</p> }),
      },
    },
  })
  return { app, ran }
}

test.for(['/nowhere', '/nowhere/else?a=1'])(
  'no loader runs for a form of another site at %s, and the answer is 404',
  async (path) => {
    const { app, ran } = site()
    const foreign = await request(app).post(path).set(FOREIGN).type('form').send('a=1').expect(404)
    expect([foreign.text.includes('own page'), ran]).toEqual([false, []])
    const own = await request(app).post(path).set('Sec-Fetch-Site', 'same-origin').type('form').send('a=1').expect(404)
    expect([own.text.includes('own page'), ran]).toEqual([true, ['POST']])
    // A link of another site has the cookie.
    const link = await request(app).get(path).set('Sec-Fetch-Site', 'cross-site').expect(404)
    expect(link.text).toContain('own page')
  },
)
