import { describe, expect, test } from 'vitest'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import type { BuiltServer } from '../support/built-server.ts'
import { FULL_DISKS } from '../support/full-disk.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { postRequest, SIGN, SIGNATURE } from '../support/replay-server.ts'
import { serverOfTest } from '../support/server-of-test.ts'
import { print } from './print.ts'

const LIMIT_MS = 120_000 // for hangs only
const FORM = `/lab/guestbook?_action=${SIGN}.1`
const CALL = `/_m/data/lab/guestbook?_action=${SIGN}`
const PAGES = ['/', '/docs/routes', '/lab', '/lab/params/7', '/lab/guestbook', '/lab/stream?delay=5'] as const

describe.each(FULL_DISKS)('with $name', ({ isPossible, fill, makeRoom, through }) => {
  test.runIf(isPossible)(
    'pages are served, what has to be stored is refused, and all is well again once there is room',
    { timeout: LIMIT_MS },
    async () => {
      const server = await serverOfTest({
        env: { LOG_LEVEL: 'warn' },
        ...(through === undefined ? {} : { through }),
      })
      expect(await signs(server)).toEqual([303, 200])
      expect(await report(server)).toMatchObject({ status: 200 })

      await fill(server)
      // What is left of pages that SQLite has already may take some more.
      await expect
        .poll(async () => (await signs(server)).every(isRefusal), { timeout: LIMIT_MS, interval: 1 })
        .toBe(true)
      const seen = new Map<number, number>()
      for (let round = 0; round < 10; round += 1) {
        for (const target of [...PAGES, '/healthz', '/readyz', '/_m/build.json', '/_m/data/lab/params/7']) {
          const { status } = await requestRaw(server.port, getRequest(target))
          seen.set(status, (seen.get(status) ?? 0) + 1)
        }
      }
      expect([...seen.keys()]).toEqual([200])

      const form = await requestRaw(server.port, postRequest(FORM, SIGNATURE))
      expect([isRefusal(form.status), form.header('cache-control')]).toEqual([true, 'no-store'])
      expect(form.text).toMatch(/Digest: [0-9a-f]{12}/)
      expect(form.text).not.toMatch(/SQLITE|database|disk/)
      const call = await requestRaw(server.port, postRequest(CALL, SIGNATURE))
      expect([isRefusal(call.status), call.header('cache-control')]).toEqual([true, 'no-store'])
      expect(call.text).toMatch(/"digest":"[0-9a-f]{12}"/)
      const refused = await report(server)
      expect([refused.status, refused.header('retry-after')]).toEqual([503, '30'])

      await makeRoom(server)
      expect(await signs(server)).toEqual([303, 200])
      expect(await report(server)).toMatchObject({ status: 200 })
      print(`disk full: ${seen.get(200)} answers of 200; forms, calls and reports refused, and taken again with room`)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})

/** 503 where the guestbook's limit cannot be counted, 500 where its entry cannot be written. */
const isRefusal = (status: number): boolean => status === 503 || status === 500

/** Signs the guestbook by its form and by a call; gives both statuses. */
async function signs({ port }: BuiltServer): Promise<number[]> {
  const answers = []
  for (const target of [FORM, CALL]) answers.push(await requestRaw(port, postRequest(target, SIGNATURE)))
  return answers.map(({ status }) => status)
}

/** Hands a report in, as a browser does. */
function report({ port }: BuiltServer) {
  const event = JSON.stringify({ event_id: '0'.repeat(32), message: 'x'.repeat(2_000), platform: 'javascript' })
  const envelope = `${JSON.stringify({ dsn: 'https://inbox@inbox.invalid/1' })}\n{"type":"event"}\n${event}\n`
  return requestRaw(
    port,
    postRequest(derivedTunnelPath(''), envelope, { 'Content-Type': 'application/x-sentry-envelope' }),
  )
}
