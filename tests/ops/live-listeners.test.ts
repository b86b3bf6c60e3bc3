/** Many open pages that listen to one tag, and a visitor who posts: how many requests that costs, and who is refused. */
import { Agent, get } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createLiveData } from '../../src/client/hooks/live-data.ts'
import { DROPS_EVENT, type DropsMessage } from '../../src/shared/protocol/drops-event.ts'
import type { RouteDataHead } from '../../src/shared/protocol/route-data.ts'
import { startEdition } from '../support/router-app.ts'
import { print } from './print.ts'

const LIMIT_MS = 180_000 // for hangs only
const LISTENERS = 500
const DROPS = 24
const DROP_EVERY_MS = 333
const SETTLED_MS = 20_000 // the longest wait of a listener, twice
const STRANGER_EVERY_MS = 250

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

test(`${DROPS} drops in 8 s, and ${LISTENERS} listeners`, { timeout: LIMIT_MS }, async () => {
  const { server, stop } = await startEdition('1', 'live-app')
  onTestFinished(stop)
  const { origin } = server
  const path = '/boards/some-many/usual'
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  onTestFinished(() => agent.destroy())
  const counts = { data: 0, refused: 0 }

  /** Path of some data: when it was read. */
  const read = (): Promise<number> =>
    new Promise((resolve, reject) => {
      counts.data += 1
      get(`${origin}/_m/data${path}`, { agent }, (answer) => {
        let text = ''
        if (answer.statusCode !== 200) counts.refused += 1
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => (text += part))
        answer.on('end', () => resolve((JSON.parse(text.split('\n')[0] ?? '') as RouteDataHead).at ?? 0))
      }).on('error', reject)
    })

  /** As a page does. */
  async function listen(): Promise<() => number> {
    let shown = 0
    const router = {
      drop: (_targets: readonly string[], at = Infinity) => shown < at,
      async catchUp() {
        shown = await read().catch(() => shown)
      },
      isBusy: () => false,
    }
    const follow = createLiveData({
      document: { visibilityState: 'visible' },
      after: (ms, run) => setTimeout(run, ms),
      random: Math.random,
    })
    await new Promise<void>((resolve) => {
      const request = get(`${origin}/events/some-many`, { agent: false }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('error', () => undefined)
        answer.on('data', (part: string) => {
          text += part
          const events = text.split('\n\n')
          text = events.pop() ?? ''
          for (const event of events) {
            const [name = '', data = ''] = event.split('\ndata: ')
            if (name !== `event: ${DROPS_EVENT}`) continue
            const message = JSON.parse(data) as DropsMessage
            // Its page has been loaded after that.
            if (shown === 0) shown = message.targets['board:some-many'] ?? 0
            follow(router, message)
            resolve()
          }
        })
      })
      onTestFinished(() => void request.destroy())
    })
    return () => shown
  }

  const listeners = await Promise.all(Array.from({ length: LISTENERS }, listen))
  const strangers = { asked: 0, refused: 0 }
  const stranger = setInterval(() => {
    strangers.asked += 1
    fetch(`${origin}/`).then(
      ({ status }) => void (strangers.refused += status === 200 ? 0 : 1),
      () => void (strangers.refused += 1),
    )
  }, STRANGER_EVERY_MS)
  for (let n = 0; n < DROPS; n += 1) {
    await fetch(`${origin}/posts/some-many`, { method: 'POST', body: '+' })
    await pause(DROP_EVERY_MS)
  }
  await pause(SETTLED_MS)
  clearInterval(stranger)
  const latest = await read()
  print(
    `${counts.data - 1} requests for data, ${counts.refused} refused; ${strangers.refused} of ${strangers.asked} strangers`,
  )
  expect(listeners.filter((shown) => shown() !== latest)).toEqual([])
  expect(strangers.refused).toBe(0)
  expect(counts.refused).toBe(0)
  expect(counts.data).toBeLessThanOrEqual(1_500)
})
