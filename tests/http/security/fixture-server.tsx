/**
 * An application made to be attacked: what the reference application has no page for. It runs in the test's own
 * process with the limits of the real server, and is held against the same oracles after each test.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { limitConnections } from '../../../src/server/process/limit-connections.ts'
import { SERVER_OPTIONS, setServerLimits } from '../../../src/server/process/server-limits.ts'
import { connectRaw, getRequest, requestRaw } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { startRecordingUpstream, type RecordingUpstream } from '../../support/recording-upstream.ts'
import { faultsOf } from '../../support/replay-oracles.ts'
import { postRequest, type ReplayServer } from '../../support/replay-server.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { tinyApp, type TinyApp, type TinyAppOptions } from '../../support/tiny-app.tsx'

const HEALTH_LIMIT_MS = 10_000 // a hang check
const SECRET = 'canary-fixture-3a91'

/** The fixture under replay. */
interface FixtureServer extends Pick<ReplayServer, 'connect' | 'send' | 'get' | 'post' | 'permit'> {
  /** The only other origin that its rules name. */
  readonly upstream: RecordingUpstream
  readonly port: number
  /** Says that this test makes the application fail, and that the log may say so. */
  expectFailures(): void
}

/** @param make the application, given the port of the upstream. */
export function fixtureServer(make: (upstreamPort: number) => Omit<TinyAppOptions, 'environment'>): FixtureServer {
  let upstream: RecordingUpstream
  let folder: TempDir
  let tiny: TinyApp
  let server: Server
  let failuresExpected = false
  let seenLogs = 0
  const permitted: number[] = []
  const answers: RawResponse[] = []
  const port = (): number => (server.address() as AddressInfo).port

  beforeAll(async () => {
    upstream = await startRecordingUpstream()
    folder = await makeTempDir('fixture')
    tiny = tinyApp({ ...make(upstream.port), environment: { DATA_DIR: folder.path, SECRET_KEYS: `${SECRET}-padding` } })
    server = createServer({ ...SERVER_OPTIONS, shouldUpgradeCallback: tiny.app.shouldUpgrade }, tiny.app)
    setServerLimits(server)
    limitConnections(server)
    server.on('upgrade', tiny.app.upgrade)
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  })

  afterEach(async () => {
    const faults = answers.splice(0).flatMap((answer) => faultsOf(answer, { secrets: [SECRET], permitted }))
    expect(faults).toEqual([])
    const startedAt = performance.now()
    expect((await requestRaw(port(), getRequest('/healthz'))).status).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(HEALTH_LIMIT_MS)
    const logs = tiny.logs.slice(seenLogs)
    seenLogs = tiny.logs.length
    expect(JSON.stringify(logs)).not.toContain(SECRET)
    if (!failuresExpected) expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
    failuresExpected = false
    permitted.length = 0
  })

  afterAll(async () => {
    server?.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    tiny?.app.dispose()
    await upstream?.[Symbol.asyncDispose]()
    await folder?.remove()
  })

  const keep = (answer: RawResponse): RawResponse => {
    answers.push(answer)
    return answer
  }
  const send: FixtureServer['send'] = async (bytes, how) => keep(await requestRaw(port(), bytes, how))

  return {
    get upstream() {
      return upstream
    },
    get port() {
      return port()
    },
    async connect() {
      const connection = await connectRaw(port())
      return { ...connection, response: async (how) => keep(await connection.response(how)) }
    },
    send,
    get: (target, headers, host) => send(getRequest(target, headers, host)),
    post: (target, body, headers, host) => send(postRequest(target, body, headers, host)),
    permit: (...statuses) => void permitted.push(...statuses),
    expectFailures: () => void (failuresExpected = true),
  }
}
