/** Middleware in front of an application also waits for the end of an answer. Node warns of more than ten that do. */
import { Suspense, use } from 'react'
import express from 'express'
import request from 'supertest'
import { expect, test, vi } from 'vitest'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const OTHERS = 10 // as many as Node lets others have without a warning

const Value = ({ of }: { readonly of: Promise<string> }) => use(of)

function LatePage({ data }: { readonly data: { readonly value: Promise<string> } }) {
  return (
    <Suspense fallback="…">
      <Value of={data.value} />
    </Suspense>
  )
}

const loader = () => ({ value: new Promise<string>((resolve) => setImmediate(resolve, 'late')) })

test.for(['/', '/late', '/_m/data/late', '/file'])('%s in a host with ten of them causes no warning', async (path) => {
  const warned = vi.spyOn(process, 'emitWarning')
  const { app } = tinyApp({
    routes: {
      '/': { page: page(() => <p>home</p>) },
      '/late': { page: page(LatePage), loader: moduleOf({ loader: loader as never }) },
      '/file': { handler: moduleOf({ GET: () => new Response(new Blob(['x'.repeat(100_000)]).stream()) } as never) },
    } as never,
  })
  const host = express().use((_req, res, next) => {
    for (let count = 0; count < OTHERS; count += 1) res.on('close', () => undefined)
    next()
  })
  const { status } = await request(host.use(app)).get(path).set('Accept-Encoding', 'gzip')
  expect([status, warned.mock.calls.map(([warning]) => String(warning))]).toEqual([200, []])
})
