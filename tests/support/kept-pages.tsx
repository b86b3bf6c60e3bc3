import request from 'supertest'
import { onTestFinished, vi } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { moduleOf, page, type TinyApp, type TinyAppOptions } from './tiny-app.tsx'

type Headers = Readonly<Record<string, string>>

const shown = page(({ data }: { data: { shown: string } }) => <p id="shown">{data.shown.padEnd(2_000, '.')}</p>)

/** A kept page whose loader counts, and does something else besides. */
export function counted(beside: (args: LoaderArgs) => unknown = () => undefined, shared?: object) {
  const state = { made: 0 }
  const loader = async (args: LoaderArgs) => {
    if (shared !== undefined) args.cache({ shared: shared as never, tags: ['mills'] })
    state.made += 1
    const { made } = state
    const said = await beside(args)
    return { shown: `made ${made}${typeof said === 'string' ? ` for ${said}` : ''}` }
  }
  return { state, route: { cache: 'shared' as const, page: shown, loader: moduleOf({ loader }) } }
}

/** Drops what it is told. */
export const drop = {
  handler: moduleOf({
    POST: async ({ context, search }: LoaderArgs) => {
      await context.revalidate(String(search['what']))
      return new Response('')
    },
  }),
}

/** One visit; all are of one host, whatever port the test listens on. */
export function visit({ app }: TinyApp, path = '/', headers: Headers = {}) {
  return request(app)
    .get(path)
    .set({ Host: 'mills.example', 'Accept-Encoding': 'identity', ...headers })
}

export const statusOf = (answer: { headers: Headers }): string => answer.headers['cache-status'] ?? ''
/** What `counted` shows. */
export const numberOf = (answer: { text: string }): string =>
  /made \d+(?: for \w+)?/.exec(answer.text)?.[0] ?? answer.text

/** Takes over the clock. @returns lets time pass. */
export function withClock(): (milliseconds: number) => void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  onTestFinished(() => void vi.useRealTimers())
  return (milliseconds) => void vi.setSystemTime(Date.now() + milliseconds)
}

/** Middleware that counts requests. */
export function countArrivals(): { count: number; readonly middleware: TinyAppOptions['middleware'] } {
  const arrived = {
    count: 0,
    middleware: [
      (_req, _res, next) => {
        arrived.count += 1
        next()
      },
    ] satisfies TinyAppOptions['middleware'],
  }
  return arrived
}
