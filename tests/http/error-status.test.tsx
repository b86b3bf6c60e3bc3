import request from 'supertest'
import { expect, test } from 'vitest'
import { UnavailableError } from '../../src/server/http/unavailable-error.ts'
import type { ErrorProps } from '../../src/client/module-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

/** A site whose error page says what it is told, in its title too. */
function failingApp() {
  const { app } = tinyApp({
    routes: {
      '/': {
        error: moduleOf({
          default: ({ origin, reason, status }: ErrorProps) => <p>{`${origin} ${reason} ${status}`}</p>,
          metadata: ({ reason, status }: Partial<ErrorProps>) => ({ title: `title ${reason} ${status}` }),
        }),
      },
      '/busy': {
        page: page(() => <p>page</p>),
        loader: moduleOf({
          loader: () => {
            throw new UnavailableError('later')
          },
        }),
      },
      '/broken': {
        page: page(() => {
          throw new Error('broken')
        }),
      },
    } as never,
  })
  return app
}

test.for([
  ['/busy', 503],
  ['/broken', 500],
] as const)(
  'the error page of %s is told its status, on the server and where it is hydrated',
  async ([path, status]) => {
    const { text } = await request(failingApp()).get(path).expect(status)
    expect(text).toContain(`<p>server server ${status}</p>`)
    const hydrationData = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(text)?.[1] ?? ''
    const { outcome } = JSON.parse(hydrationData) as { outcome: { status?: number } }
    // 500 goes without saying.
    expect(outcome.status).toBe(status === 500 ? undefined : status)
  },
)

test('the title of an error page may say what has happened', async () => {
  const { text } = await request(failingApp()).get('/busy').expect(503)
  expect(text).toContain('<title>title undefined 503</title>')
})
