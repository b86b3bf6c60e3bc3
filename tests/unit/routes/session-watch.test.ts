import { expect, onTestFinished, test, vi } from 'vitest'
import { createSessionWatch } from '../../../src/server/routes/resources/session-watch.ts'
import type { SessionLife } from '../../../src/server/secrets/session-life.ts'
import type { DropListener } from '../../../src/server/stores/cache/data-cache.ts'

/** A watch whose looks at sessions the test answers. */
function setup() {
  const listeners: DropListener[] = []
  const looks: PromiseWithResolvers<number | undefined>[] = []
  const watch = createSessionWatch({
    data: { onDrop: (listener: DropListener) => void listeners.push(listener) } as never,
  })
  const tell = (targets: readonly string[] | undefined): void => {
    for (const listener of listeners) listener(targets, 0)
  }
  return {
    looks,
    tell,
    follow(id: string) {
      const ended = vi.fn<() => void>()
      const life: SessionLife = {
        kept: { id, topic: 'ann', forget: () => Promise.resolve() },
        leftMs() {
          const look = Promise.withResolvers<number | undefined>()
          looks.push(look)
          return look.promise
        },
      }
      return { ended, stop: watch.follow(life, ended) }
    },
    async answer(left: number | undefined) {
      for (const look of looks.splice(0)) look.resolve(left)
      await new Promise(setImmediate)
    },
  }
}

test('a session is looked up once for all of its streams, however often it may have ended meanwhile', async () => {
  const { follow, looks, tell, answer } = setup()
  const streams = Array.from({ length: 300 }, () => follow('phone'))
  expect(looks).toHaveLength(1)
  await answer(60_000)
  await answer(60_000) // for the streams that were opened meanwhile
  expect(looks).toHaveLength(0)
  for (let signIn = 0; signIn < 20; signIn += 1) tell(['ann', 'bob'])
  tell(undefined)
  expect(looks).toHaveLength(1)
  await answer(60_000)
  expect(looks).toHaveLength(1)
  await answer(undefined)
  expect(looks).toHaveLength(0)
  for (const { ended } of streams) expect(ended).toHaveBeenCalledOnce()
})

test('a session that ends while it is looked up is seen', async () => {
  const { follow, tell, answer } = setup()
  const { ended } = follow('phone')
  tell(['ann'])
  await answer(60_000)
  expect(ended).not.toHaveBeenCalled()
  await answer(undefined)
  expect(ended).toHaveBeenCalledOnce()
})

test('sessions of one user are looked up apart, and for as long as a stream follows them', async () => {
  const { follow, looks, tell, answer } = setup()
  const [phone, laptop, other] = [follow('phone'), follow('laptop'), follow('phone')]
  expect(looks).toHaveLength(2)
  await answer(60_000)
  await answer(60_000)
  phone.stop()
  tell(['ann'])
  expect(looks).toHaveLength(2)
  await answer(60_000)
  for (const { stop } of [other, laptop, laptop]) stop()
  tell(['ann'])
  expect(looks).toHaveLength(0)
  const again = follow('phone')
  await answer(undefined)
  expect(again.ended).toHaveBeenCalledOnce()
  for (const { ended } of [phone, laptop, other]) expect(ended).not.toHaveBeenCalled()
})

test('a session that another process has ended without a word is seen soon', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { follow, looks, answer } = setup()
  const { ended } = follow('phone')
  for (let look = 0; look < 3; look += 1) {
    await answer(86_400_000)
    expect(looks).toHaveLength(0)
    vi.advanceTimersByTime(20_000)
    expect(looks).toHaveLength(1)
  }
  await answer(undefined)
  expect(ended).toHaveBeenCalledOnce()
})
