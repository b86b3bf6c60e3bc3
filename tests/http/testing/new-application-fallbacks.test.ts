import { defineRoutes } from 'millrace'
import { defineApp, forbidden, unauthorized } from 'millrace/server'
import { createTestApp } from 'millrace/testing'
import { expect, onTestFinished, test } from 'vitest'

/** A module of the template, which is of another package: its types are checked there. */
const ofTemplate = (file: string) => () =>
  import(new URL(`../../../templates/application/src/app/${file}`, import.meta.url).href)

const page = ofTemplate('home-page.tsx')

const routes = defineRoutes({
  '/': {
    page,
    notFound: ofTemplate('fallbacks/not-found.tsx'),
    forbidden: ofTemplate('fallbacks/forbidden.tsx'),
    unauthorized: ofTemplate('fallbacks/unauthorized.tsx'),
  },
  '/forbidden': { page, loader: () => Promise.resolve({ loader: () => forbidden() }) },
  '/unauthorized': { page, loader: () => Promise.resolve({ loader: () => unauthorized() }) },
})

test.for([
  ['/missing', 404, 'Not found'],
  ['/forbidden', 403, 'No access'],
  ['/unauthorized', 401, 'Not signed in'],
] as const)('in a new application, %s says what %d means, and leads home', async ([path, status, heading]) => {
  const { Document } = await ofTemplate('document.tsx')()
  const app = createTestApp(defineApp({ routes, document: Document }))
  onTestFinished(() => app.stop())
  const answer = await app.visitor().get(path)
  expect(answer.status).toBe(status)
  expect(answer.text('h1')).toBe(heading)
  expect(answer.all('a').map(({ attributes }) => attributes['href'])).toEqual(['/'])
})
