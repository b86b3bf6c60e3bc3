import { describe, expect, test } from 'vitest'
import { createLiveData } from '../../../src/client/hooks/live-data.ts'

/** A tab whose screen has data of some targets, and a clock that the test moves. */
function fakeTab(random = 0.5) {
  const timers: { at: number; run: () => void }[] = []
  const clock = { now: 0 }
  const document = { visibilityState: 'visible' as DocumentVisibilityState }
  /** When the data on screen was read. */
  const screen = new Map([['board', 0]])
  const server = { at: 0, fails: false }
  const asked: number[] = []
  const dropped: string[] = []
  const tab = { isBusy: false, open: () => undefined as void, holds: false }
  const router = {
    drop: ([target = '']: readonly string[], at = Infinity) => {
      dropped.push(target)
      return (screen.get(target) ?? Infinity) < at
    },
    async catchUp() {
      asked.push(clock.now)
      const { at } = server
      if (tab.holds) await new Promise<void>((resolve) => (tab.open = resolve))
      if (!server.fails) for (const target of screen.keys()) screen.set(target, at)
    },
    isBusy: () => tab.isBusy,
  }
  const follow = createLiveData({
    document,
    random: () => random,
    after: (ms, run) => void timers.push({ at: clock.now + ms, run }),
  })
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
  return {
    document,
    screen,
    server,
    asked,
    dropped,
    tab,
    /** The server drops a target now, and a stream tells it. */
    drop(target: string, spread = 0, at = clock.now + 1) {
      server.at = Math.max(server.at, at)
      follow(router, { targets: { [target]: at }, spread })
    },
    async pass(ms: number): Promise<void> {
      const end = clock.now + ms
      await settle()
      for (;;) {
        const [next] = timers.toSorted((one, other) => one.at - other.at)
        if (next === undefined || next.at > end) break
        timers.splice(timers.indexOf(next), 1)
        clock.now = Math.max(clock.now, next.at)
        next.run()
        await settle()
      }
      clock.now = end
    },
  }
}

test('a drop of what is on screen is one request, at once where few listen', async () => {
  const { drop, pass, asked } = fakeTab()
  drop('board')
  await pass(60_000)
  expect(asked).toEqual([0])
})

test('what is not on screen, or newer there, is dropped from the cache and not asked for', async () => {
  const { drop, pass, asked, dropped, screen } = fakeTab()
  screen.set('board', 5)
  drop('other')
  drop('board', 0, 5)
  expect(dropped).toEqual(['other', 'board'])
  await pass(60_000)
  expect(asked).toEqual([])
})

test('many listeners wait for a part of the spread, and ask once in it, whatever is dropped meanwhile', async () => {
  const { drop, pass, asked } = fakeTab(0.25)
  for (let n = 0; n < 24; n += 1) {
    drop('board', 8_000)
    await pass(333)
  }
  await pass(60_000)
  expect(asked).toEqual([2_000, 10_000])
})

test('what is dropped during a request is one more afterwards', async () => {
  const { drop, pass, asked, tab } = fakeTab()
  tab.holds = true
  drop('board')
  await pass(10)
  drop('board')
  drop('board')
  await pass(10)
  expect(asked).toEqual([0])
  tab.holds = false
  tab.open()
  await pass(1_000)
  expect(asked).toHaveLength(2)
})

describe('what may come by itself is waited for', () => {
  test('the answer of a call brings it: nothing is asked', async () => {
    const { drop, pass, asked, tab, screen, dropped } = fakeTab()
    tab.isBusy = true
    drop('board')
    await pass(500)
    expect([asked, dropped]).toEqual([[], []])
    screen.set('board', 1)
    tab.isBusy = false
    await pass(60_000)
    expect(asked).toEqual([])
  })

  test('for two seconds', async () => {
    const { drop, pass, asked, tab } = fakeTab()
    tab.isBusy = true
    drop('board')
    await pass(1_900)
    expect(asked).toEqual([])
    await pass(200)
    expect(asked).toEqual([2_000])
  })
})

test('a hidden tab asks nothing, and once when it is told again', async () => {
  const { drop, pass, asked, document } = fakeTab()
  drop('board', 1_000)
  document.visibilityState = 'hidden'
  await pass(10_000)
  expect(asked).toEqual([])
  document.visibilityState = 'visible'
  drop('board', 0, 1)
  await pass(60_000)
  expect(asked).toEqual([10_000])
})

test('a request that fails is made again, ever later, and given up', async () => {
  const { drop, pass, asked, server } = fakeTab()
  server.fails = true
  drop('board')
  await pass(600_000)
  expect(asked).toEqual([0, 5_000, 15_000, 35_000])
  server.fails = false
  drop('board')
  await pass(1_000)
  expect(asked.slice(4)).toEqual([600_000])
})
