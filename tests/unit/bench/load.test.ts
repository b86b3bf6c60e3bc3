import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { loadFor } from '../../bench/load.ts'
import { withServer } from '../../support/listening.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const SECONDS = 1 // the shortest time that generators take

test('a form that ends with the number of its request is sent, and no two are the same', async () => {
  await using folder = await makeTempDir('load')
  const bodies: string[] = []
  const { requests } = await withServer(
    (request, response) => {
      void text(request).then((body) => {
        bodies.push(body)
        response.writeHead(303, { Location: '/' }).end()
      })
    },
    (port) =>
      loadFor(`http://127.0.0.1:${port}/`, SECONDS, { form: { folder: folder.path, body: 'name=Ada&$once=[<id>]' } }),
  )
  expect(requests).toBeGreaterThan(0)
  expect(new Set(bodies).size).toBe(bodies.length)
  expect(bodies[0]).toMatch(/^name=Ada&\$once=[^[\]]+$/)
})
