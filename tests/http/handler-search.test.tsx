/** What authors are promised of a handler's search params: its own schema reads them, as a loader's does. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, tinyApp } from '../support/tiny-app.tsx'

const search = z.object({ page: z.coerce.number().int().min(1).default(1) })
type Search = z.output<typeof search>

function handlerApp() {
  const ran: unknown[] = []
  const answer = ({ search: asked }: LoaderArgs<'/orders.csv', Search>): Response => {
    ran.push(asked)
    return Response.json(asked)
  }
  const { app } = tinyApp({ routes: { '/orders.csv': { handler: moduleOf({ search, GET: answer, POST: answer }) } } })
  return { app, ran }
}

describe('a handler whose module exports a schema', () => {
  test.for([
    ['?page=2&other=x', { page: 2 }],
    ['', { page: 1 }],
  ] as const)('gets what that makes of %j', async ([query, asked]) => {
    const { app } = handlerApp()
    expect((await request(app).get(`/orders.csv${query}`).expect(200)).body).toEqual(asked)
  })

  test.for(['get', 'post', 'head'] as const)(
    'is not asked by %s where the search params are not valid',
    async (method) => {
      const { app, ran } = handlerApp()
      const answer = await request(app)[method]('/orders.csv?page=none')
      expect([answer.status, answer.headers['cache-control'], ran]).toEqual([400, 'no-store', []])
      if (method !== 'head') expect(answer.text).toMatch(/^page: /)
    },
  )

  test('answers methods that it does not have as before', async () => {
    const { app } = handlerApp()
    expect((await request(app).put('/orders.csv?page=none').expect(405)).headers['allow']).toBe(
      'GET, POST, HEAD, OPTIONS',
    )
  })

  test('tells of twenty faults at most', async () => {
    const strict = z.record(z.string(), z.coerce.number())
    const handler = moduleOf({ search: strict, GET: () => new Response('never') })
    const { app } = tinyApp({ routes: { '/strict': { handler } } })
    const query = Array.from({ length: 900 }, (_, at) => `k${at}=x`).join('&')
    const { text } = await request(app).get(`/strict?${query}`).expect(400)
    expect(text.split('; ')).toHaveLength(20)
  })
})
