/**
 * Sequences of ordinary and rude requests against one server, made by chance. A failure prints the seed and the path to
 * replay it with, and fast-check shortens the sequence to what is needed.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { connectRaw, getRequest, type RawConnection } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { faultsOf } from '../../support/replay-oracles.ts'
import { postRequest, replayServer, SECRETS, SIGN, SIGNATURE } from '../../support/replay-server.ts'

const RUNS = 200
const RUNS_LIMIT_MS = 180_000 // for hangs only
const LARGEST_STEP = 6
const site = replayServer()

const TARGETS = [
  '/',
  '/lab',
  '/lab/params/p',
  '/lab/stream?delay=5',
  '/lab/crash/late',
  '/nope',
  '/lab/private',
  '/lab/bench/table?n=200',
]

/** What a client does on a connection of its own. `at` is where it leaves, in bytes of the answer. */
type Step =
  | { readonly kind: 'document' | 'data'; readonly target: string; readonly encoding: string; readonly every: number }
  | { readonly kind: 'action'; readonly transport: 'form' | 'call'; readonly every: number }
  | { readonly kind: 'signature'; readonly every: number }
  | { readonly kind: 'abort'; readonly target: string; readonly at: number }
  | { readonly kind: 'cut-off'; readonly transport: 'form' | 'call'; readonly at: number }
  | { readonly kind: 'slow-read'; readonly target: string; readonly bytes: number }
  | { readonly kind: 'pipeline'; readonly targets: readonly string[]; readonly every: number }
  | { readonly kind: 'garbage'; readonly bytes: Uint8Array }

const target = fc.constantFrom(...TARGETS, ...TARGETS.map((path) => `/_m/data${path}`))
const every = fc.constantFrom(1, 7, 100, 10_000)
const transport = fc.constantFrom('form' as const, 'call' as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('document' as const, 'data' as const),
    target: fc.constantFrom(...TARGETS),
    encoding: fc.constantFrom('identity', 'gzip', 'br', 'zstd'),
    every,
  }),
  fc.record({ kind: fc.constant('action' as const), transport, every }),
  fc.record({ kind: fc.constant('signature' as const), every }),
  fc.record({ kind: fc.constant('abort' as const), target, at: fc.nat(20_000) }),
  fc.record({ kind: fc.constant('cut-off' as const), transport, at: fc.nat(260) }),
  fc.record({ kind: fc.constant('slow-read' as const), target, bytes: fc.integer({ min: 1, max: 4_000 }) }),
  fc.record({
    kind: fc.constant('pipeline' as const),
    targets: fc.array(target, { minLength: 2, maxLength: 5 }),
    every,
  }),
  fc.record({ kind: fc.constant('garbage' as const), bytes: fc.uint8Array({ minLength: 1, maxLength: 200 }) }),
)

const FORM = `/lab/guestbook?_action=${SIGN}.1`
const CALL = `/_m/data/lab/guestbook?_action=${SIGN}`

/** A call that the schema refuses. */
function invalidCall(way: 'form' | 'call'): Buffer {
  return postRequest(way === 'form' ? FORM : CALL, 'name=&message=')
}

/** Reads an answer and holds it against the oracles. */
async function expectHarmless(connection: RawConnection): Promise<RawResponse> {
  const answer = await connection.response()
  expect(faultsOf(answer, { secrets: SECRETS })).toEqual([])
  expect(answer.complete).toBe(true)
  return answer
}

async function take(action: Step): Promise<void> {
  using connection = await connectRaw(site.server.port)
  switch (action.kind) {
    case 'document':
    case 'data': {
      const prefix = action.kind === 'data' ? '/_m/data' : ''
      const bytes = getRequest(prefix + action.target, { 'Accept-Encoding': action.encoding })
      const [{ status }] = await Promise.all([expectHarmless(connection), connection.send(bytes, action)])
      expect(status).toBeOneOf([200, 401, 404])
      return
    }
    case 'action': {
      const bytes = invalidCall(action.transport)
      const [{ status }] = await Promise.all([expectHarmless(connection), connection.send(bytes, action)])
      expect(status).toBe(422)
      return
    }
    case 'signature': {
      const bytes = postRequest(CALL, SIGNATURE)
      const [{ status, text }] = await Promise.all([expectHarmless(connection), connection.send(bytes, action)])
      expect(status).toBe(200)
      // Beyond so many a minute an address is told to wait, and nothing is stored.
      if (text.includes('"kind":"signed"')) site.expectChanges(1)
      return
    }
    case 'abort':
      await connection.send(getRequest(action.target, { Connection: 'close' }))
      await connection.abortAfter(action.at)
      return
    case 'cut-off': {
      const bytes = invalidCall(action.transport)
      await connection.send(bytes.subarray(0, Math.min(action.at, bytes.length - 1)))
      connection.socket.resetAndDestroy()
      return
    }
    case 'slow-read': {
      await connection.send(getRequest(action.target, { Connection: 'close' }))
      for (let piece = 0; piece < 5; piece += 1) {
        await connection.receive(action.bytes)
        await new Promise((turn) => setImmediate(turn))
      }
      return
    }
    case 'pipeline': {
      const bytes = action.targets.map((path) => getRequest(path)).join('')
      const sending = connection.send(bytes, action)
      for (let at = 0; at < action.targets.length; at += 1) await expectHarmless(connection)
      await sending
      return
    }
    case 'garbage': {
      await connection.send(action.bytes)
      connection.socket.end()
      const { rest } = await connection.end()
      expect(rest.toString('latin1')).toMatch(/^(?:|HTTP\/1\.1 4\d\d [\s\S]*)$/)
      return
    }
  }
}

test(
  'whatever clients do, the server goes on, and says nothing that it should not',
  { timeout: RUNS_LIMIT_MS },
  async ({ annotate }) => {
    const seed = Math.trunc(performance.timeOrigin) % 2 ** 31
    await annotate(`seed ${seed}, ${RUNS} runs`)
    const before = await site.probe()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: LARGEST_STEP }),
        async (steps) => {
          const running: Promise<unknown>[] = []
          for (const [one, together] of steps) {
            const taken = take(one)
            running.push(taken)
            if (!together) await taken
          }
          await Promise.all(running)
          using plain = await connectRaw(site.server.port)
          await plain.send(getRequest('/healthz'))
          expect((await plain.response()).text).toBe('ok\n')
        },
      ),
      { numRuns: RUNS, seed },
    )
    const sockets = async (): Promise<number> => (await site.probe()).resources['TCPSocketWrap'] ?? 0
    await expect.poll(sockets, { timeout: 15_000 }).toBeLessThanOrEqual(before.resources['TCPSocketWrap'] ?? 0)
  },
)
