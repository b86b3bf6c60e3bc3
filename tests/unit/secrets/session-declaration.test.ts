import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createSecrets } from '../../../src/server/secrets/secrets.ts'
import { defineSession } from '../../../src/server/secrets/define-session.ts'
import { browserJar } from './browser-jar.ts'

const DAY = 86_400
const schema = z.object({ user: z.string() })

describe('a declaration', () => {
  test.for(['', 'a b', 'a;b', 'a=b', 'a.flash', 'ä', 'x'.repeat(65)])('named %j is refused', (name) => {
    expect(() => defineSession({ name, schema })).toThrow(/defineSession: name/)
  })

  test.for([0, -1, 1.5, Number.NaN, 401 * DAY])('with an age of %d seconds is refused', (maxAgeSeconds) => {
    expect(() => defineSession({ schema, maxAgeSeconds })).toThrow(/defineSession: maxAgeSeconds.*400 days/)
  })

  test('of nothing but a schema is a cookie named session, for two weeks', async () => {
    const clock = () => 1_750_000_000_000
    const context = browserJar(createSecrets(['a key for these tests, long enough'], clock)).request()
    const session = await defineSession({ schema }, clock).open(context)
    await session.set({ user: 'mill' })
    expect(context.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-session=.*; Max-Age=1209600;/)])
  })
})
