/** The operational checklist, as far as one process can show it. See `README.md`. */
import { describe, expect, test } from 'vitest'
import type { BuiltServer } from '../../support/built-server.ts'
import { connectRaw, getRequest, requestRaw, type RawConnection } from '../../support/raw-http.ts'
import { postRequest, replayServer, SIGN, SIGNATURE } from '../../support/replay-server.ts'
import { serverOfTest } from '../../support/server-of-test.ts'

const LONG_URL = `/${'a'.repeat(9_000)}`
const FORM = `/lab/guestbook?_action=${SIGN}.1`
const CALL = `/_m/data/lab/guestbook?_action=${SIGN}`

const started = (env: Readonly<Record<string, string>> = {}): Promise<BuiltServer> => serverOfTest({ env })

describe('headers', () => {
  const site = replayServer()

  test.for([
    ['GET', '/'],
    ['GET', '/lab/stream?delay=10'],
    ['GET', '/_m/data/lab/params/x'],
    ['GET', '/_m/build.json'],
    ['GET', '/_m/assets/none'],
    ['GET', '/healthz'],
    ['GET', '/readyz'],
    ['GET', '/robots.txt'],
    ['GET', '/lab/redirect/temporary'],
    ['GET', '/lab/old/x'],
    ['GET', '//lab'],
    ['GET', '/nope'],
    ['GET', '/lab/private'],
    ['GET', '/lab/crash/loader'],
    ['GET', '/%'],
    ['GET', LONG_URL],
    ['DELETE', '/lab'],
    ['OPTIONS', '/lab'],
    ['POST', '/lab/guestbook?_action=none.1'],
  ] as const)('%s %# says how browsers must treat it', async ([method, target]) => {
    site.permit(500)
    const answer = await site.send(`${method} ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`)
    const of = (name: string): string | undefined => answer.header(name)
    expect(of('x-content-type-options')).toBe('nosniff')
    expect(of('referrer-policy')).toBe('strict-origin-when-cross-origin')
    expect(of('cross-origin-opener-policy')).toBe('same-origin')
    expect(of('cross-origin-resource-policy')).toBe('same-origin')
    expect(of('permissions-policy')).toMatch(/camera=\(\)/)
    expect(of('server')).toBeUndefined()
    expect([target, of('cache-control') === undefined]).toEqual([target, answer.status === 204])
    if (of('content-type')?.startsWith('text/html') !== true) return
    const policy = of('content-security-policy') ?? ''
    for (const directive of ["default-src '", "frame-ancestors 'none'", "base-uri 'none'", "form-action '"]) {
      expect(policy).toContain(directive)
    }
    if (policy.includes('script-src')) {
      expect(policy).toMatch(
        /script-src 'nonce-[\w+/=]{22,}' 'strict-dynamic'(?: 'sha256-[\w+/]{43}=')?;.*object-src 'none'/,
      )
      expect(policy).not.toMatch(/script-src[^;]*unsafe/)
    } else expect(policy).toContain("default-src 'none'")
  })

  test('connections are kept longer than a balancer keeps them', async () => {
    const { header } = await site.get('/healthz')
    expect([header('connection'), header('keep-alive')]).toEqual(['keep-alive', 'timeout=72'])
  })

  test('cookies of the session are for this host alone, unreadable for scripts, and several are kept apart', async () => {
    const answer = await site.sign()
    site.expectChanges(1)
    const cookies = answer.headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)
    expect(cookies.length).toBeGreaterThan(0)
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-[\w.-]+=[\w.-]+; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/)
    }
  })

  test('a visitor who forges addresses is one visitor', async () => {
    let taken = 0
    for (let call = 0; call < 45; call += 1) {
      const headers = {
        'X-Forwarded-For': `10.0.0.${call}`,
        Forwarded: `for=10.0.0.${call}`,
        'X-Real-IP': `10.0.0.${call}`,
      }
      const { text } = await site.post(CALL, `${SIGNATURE}${call}`, headers)
      taken += text.includes('"kind":"signed"') ? 1 : 0
    }
    expect(taken).toBeLessThan(45)
    site.expectChanges(taken)
  })
})

describe('with few places for renders', () => {
  const PLACES = 4
  const site = replayServer({
    env: { MAX_PENDING_RENDERS: String(PLACES), RENDER_TIMEOUT_MS: '15000', TRUST_PROXY: '127.0.0.1' },
  })

  let clients = 0

  /** Pages that take their time, begun and not answered. */
  async function occupy(count: number) {
    const connections: RawConnection[] = []
    for (let at = 0; at < count; at += 1) {
      const connection = await connectRaw(site.server.port)
      // The head is out, so the place is taken.
      // Each from an address of its own: beside one client that has most places, others get some more.
      const address = { 'X-Forwarded-For': `198.51.100.${(clients += 1)}` }
      await connection.send(getRequest('/lab/stream?delay=9000', address))
      expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
      connections.push(connection)
    }
    return {
      connections,
      [Symbol.dispose]: () => connections.forEach(({ socket }) => void socket.resetAndDestroy()),
    }
  }
  const statusOf = async (target: string, headers?: Readonly<Record<string, string>>): Promise<number> =>
    (await site.get(target, headers)).status

  test('prefetches are shed first, then everything that is rendered, and never what is not', async () => {
    site.permit(503)
    using half = await occupy(PLACES / 2)
    expect(await statusOf('/lab/params/x', { 'Sec-Purpose': 'prefetch' })).toBe(503)
    expect(await statusOf('/_m/data/lab/params/x', { Purpose: 'prefetch' })).toBe(503)
    expect(await statusOf('/lab/params/x')).toBe(200)
    using rest = await occupy(PLACES / 2)
    const targets = ['/lab/params/x', '/_m/data/lab/params/x', '/', '/lab/private', '/nope']
    const answers = await Promise.all(targets.map(async (target) => [target, await site.get(target)] as const))
    for (const [target, answer] of answers) {
      expect([target, answer.status]).toEqual([target, 503])
      expect(answer.header('retry-after')).toMatch(/^[1-9]$/)
      expect(answer.header('cache-control')).toBe('no-store')
      expect(answer.body.length).toBeLessThan(2_000)
    }
    // What is not ready says so to its balancer alone.
    for (const target of ['/healthz', '/_m/build.json', '/robots.txt']) {
      expect([target, await statusOf(target)]).toEqual([target, 200])
    }
    expect(half.connections.length + rest.connections.length).toBe(PLACES)
  })

  test('who goes away gives the place back at once', async () => {
    site.permit(503)
    {
      using all = await occupy(PLACES)
      expect(all.connections).toHaveLength(PLACES)
      expect(await statusOf('/lab/params/x')).toBe(503)
    }
    await expect.poll(() => statusOf('/lab/params/x'), { timeout: 1_000 }).toBe(200)
  })
})

test('a render has an end, which is a failure only before its first byte', async () => {
  const server = await started({ RENDER_TIMEOUT_MS: '300' })
  const slow = await requestRaw(server.port, getRequest('/lab/slow/5000'))
  expect([slow.status, slow.header('cache-control'), slow.complete]).toEqual([500, 'no-store', true])
  const late = await requestRaw(server.port, getRequest('/lab/stream?delay=5000'))
  expect([late.status, late.complete]).toEqual([200, true])
  expect(late.text).toMatch(/<\/body><\/html>$/)
})

describe('a shutdown', () => {
  test('lets a form that is still coming in be stored and answered, and closes behind it', async () => {
    const server = await started({ SHUTDOWN_GRACE_MS: '8000' })
    const bytes = postRequest(FORM, SIGNATURE)
    using connection = await connectRaw(server.port)
    await connection.send(bytes.subarray(0, -5))
    // A second connection proves that the first one's head has been read before the signal.
    expect((await requestRaw(server.port, getRequest('/healthz'))).status).toBe(200)
    server.kill('SIGTERM')
    await connection.send(bytes.subarray(-5))
    expect((await connection.response()).status).toBe(303)
    expect((await connection.end()).how).toBe('fin')
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  test('does not wait for a body that does not come', async () => {
    const server = await started({ SHUTDOWN_GRACE_MS: '400' })
    using connection = await connectRaw(server.port)
    await connection.send(postRequest(FORM, SIGNATURE).subarray(0, -5))
    expect((await requestRaw(server.port, getRequest('/lab/params/x'))).status).toBe(200)
    server.kill('SIGTERM')
    expect(await server.exited).toEqual({ code: 1, signal: null })
    expect((await connection.end()).rest.toString('latin1')).not.toContain('HTTP/1.1 303')
  })

  test('answers what comes on an open connection, and tells its client to go', async () => {
    const server = await started()
    using connection = await connectRaw(server.port)
    await connection.send(getRequest('/lab/stream?delay=1000'))
    expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
    server.kill('SIGTERM')
    await expect.poll(() => refusesConnections(server), { timeout: 5_000 }).toBe(true)
    await connection.send(getRequest('/lab/params/last'))
    const text = (await connection.end()).rest.toString()
    expect(text).toContain('Arrived 1000 ms after the shell')
    const last = text.slice(text.lastIndexOf('HTTP/1.1 '))
    expect(last).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close\r\n[\s\S]*last/)
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })
})

describe('what nobody has caught', () => {
  test.for([
    ['an exception', 'throw new Error("nobody catches this")'],
    ['a rejection', 'void Promise.reject(new Error("nobody catches this"))'],
  ] as const)(
    '%s is logged once, ends what is in flight in good order, and then the process with 1',
    async ([, code]) => {
      const probe = `data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(code)}})`
      const server = await serverOfTest({ nodeArgs: ['--import', probe], env: { SHUTDOWN_GRACE_MS: '8000' } })
      using connection = await connectRaw(server.port)
      await connection.send(getRequest('/lab/stream?delay=1000'))
      expect((await connection.receive(12)).toString()).toBe('HTTP/1.1 200')
      server.kill('SIGUSR2')
      await expect.poll(() => refusesConnections(server), { timeout: 5_000 }).toBe(true)
      expect((await connection.end()).rest.toString()).toContain('Arrived 1000 ms after the shell')
      expect(await server.exited).toEqual({ code: 1, signal: null })
      const told = server.logs().filter(({ level }) => level === 60)
      expect(told).toMatchObject([{ msg: 'uncaught exception', err: { message: 'nobody catches this' } }])
      expect(server.stderr()).toBe('')
    },
  )
})

async function refusesConnections({ port }: BuiltServer): Promise<boolean> {
  return connectRaw(port).then(
    (connection) => {
      connection.socket.destroy()
      return false
    },
    () => true,
  )
}
