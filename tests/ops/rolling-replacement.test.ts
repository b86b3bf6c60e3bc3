import { describe, expect, onTestFinished, test } from 'vitest'
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { copyBuild, type BuildCopy } from '../support/build-copy.ts'
import { freePorts } from '../support/free-ports.ts'
import { startNginx } from '../support/nginx.ts'
import { findProgram } from '../support/programs.ts'
import { print } from './print.ts'
import { startLoad } from './visitor-load.ts'

const LIMIT_MS = 300_000 // for hangs only
const VISITORS = 12 // enough for each instance to have some at any time, on two cores
const KEYS = 'one-key-for-all-instances-of-this-test'
const DELAY_MS = 3_000 // as in compose.yaml: longer than nginx keeps an idle connection to an instance

// Without nginx there is nothing to be behind; `scripts/test.ts` says so in one line.
describe.skipIf(findProgram('nginx') === undefined)('instances behind nginx', () => {
  test('are replaced one by one by a new build, and no visitor notices', { timeout: LIMIT_MS }, async () => {
    const site = await startSite()
    const load = startLoad({ origin: site.origin, visitors: VISITORS, postEvery: 8 })
    await answers(load.answered, 200)
    expect(await statusOf(site.origin + site.old.ownAsset)).toBe(200)

    for (const index of [0, 1, 2]) {
      await site.replace(index)
      await answers(load.answered, 100)
    }
    const { answered, posts, failures } = await load.stop()
    print(
      `${answered} answers, ${posts} forms among them, while three instances were replaced; ${failures.length} failed; ` +
        `${site.errors().match(/reset by peer/g)?.length ?? 0} connections reset`,
    )
    if (failures.length > 0) print(site.errors())
    expect(failures).toEqual([])
    expect(posts).toBeGreaterThan(10)
    expect(await (await fetch(`${site.origin}/_m/build.json`)).json()).toEqual({ buildId: site.fresh.buildId })
  })

  test(
    'two builds at once: the files of both are there, and the old ones outlast their instances',
    { timeout: LIMIT_MS },
    async () => {
      const site = await startSite()
      await site.replace(0)
      // From many addresses, so that some of them belong to an instance without the file.
      for (const asset of [site.old.ownAsset, site.fresh.ownAsset]) {
        expect(await Promise.all(Array.from({ length: 6 }, () => statusOf(site.origin + asset)))).toEqual(
          Array(6).fill(200),
        )
      }
      await Promise.all([site.replace(1), site.replace(2)])
      expect(await statusOf(site.origin + site.old.ownAsset)).toBe(200)
      expect(await statusOf(`${site.origin}/_m/assets/of-no-build.js`)).toBe(404)
    },
  )

  test('one is killed: visitors go on with the others', { timeout: LIMIT_MS }, async () => {
    const site = await startSite()
    const load = startLoad({ origin: site.origin, visitors: VISITORS, postEvery: 0 })
    await answers(load.answered, 100)
    await site.kill(1)
    const before = load.answered()
    await answers(load.answered, before + 200)
    const { answered, failures } = await load.stop()
    print(`${answered} answers, ${failures.length} cut off by the kill`)
    // What the dead instance was sending cannot be saved; nothing after that may fail.
    expect(failures.length).toBeLessThanOrEqual(VISITORS)
  })

  test(
    'a visitor’s forged address does not reach the server, and a stream is not held back',
    { timeout: LIMIT_MS },
    async () => {
      const site = await startSite()
      const answer = await fetch(`${site.origin}/lab/stream?delay=60000`, {
        headers: { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Host': 'evil.test', 'X-Forwarded-Proto': 'https' },
      })
      expect(answer.status).toBe(200)
      const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
      let shell = ''
      while (!shell.includes('data-testid="shell"')) shell += (await reader?.read())?.value ?? ''
      await reader?.cancel()
      expect(shell).not.toContain('evil.test')
      expect(shell).not.toContain('data-testid="deferred"')
    },
  )
})

interface Site {
  readonly origin: string
  /** What nginx has complained about. */
  readonly errors: () => string
  readonly old: BuildCopy
  readonly fresh: BuildCopy
  /** Stops an instance as a deployment does, and starts one of the new build in its place. */
  replace(index: number): Promise<void>
  /** Ends an instance without a word. */
  kill(index: number): Promise<void>
}

async function startSite(): Promise<Site> {
  const [port = 0, ...ports] = await freePorts(4)
  const [old, fresh] = await Promise.all([copyBuild('0'.repeat(16)), copyBuild('f'.repeat(16))])
  const instances: BuiltServer[] = []
  const started = new AsyncDisposableStack()
  onTestFinished(() => started.disposeAsync())
  started.use(old)
  started.use(fresh)
  started.defer(async () => void (await Promise.all(instances.map((instance) => instance.stop()))))
  const start = (instancePort: number, { entry }: BuildCopy): Promise<BuiltServer> =>
    startBuiltServer({
      entry,
      env: {
        PORT: String(instancePort),
        ORIGIN: `http://127.0.0.1:${port}`,
        TRUST_PROXY: '127.0.0.1',
        SECRET_KEYS: KEYS,
        SHUTDOWN_DELAY_MS: String(DELAY_MS),
        LOG_LEVEL: 'warn',
      },
    })
  instances.push(...(await Promise.all(ports.map((instancePort) => start(instancePort, old)))))
  const front = started.use(await startNginx(port, ports))
  return {
    origin: front.origin,
    errors: front.errors,
    old,
    fresh,
    async replace(index) {
      await instances[index]?.stop()
      instances[index] = await start(ports[index] ?? 0, fresh)
    },
    async kill(index) {
      const [dead] = instances.splice(index, 1)
      dead?.kill('SIGKILL')
      await dead?.exited
    },
  }
}

/** Waits until visitors have had so many answers. */
async function answers(count: () => number, atLeast: number): Promise<void> {
  const goal = atLeast + (atLeast < count() ? count() : 0)
  await expect.poll(count, { timeout: LIMIT_MS, interval: 20 }).toBeGreaterThanOrEqual(goal)
}

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url)
  await answer.arrayBuffer()
  return answer.status
}
