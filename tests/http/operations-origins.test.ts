import { describe, expect, test } from 'vitest'
import { requestRaw } from '../support/raw-http.ts'
import { get, lineOf, started } from './operation-server.ts'

describe('ORIGIN', () => {
  test('is the only name that the server answers to, but for its probes', async () => {
    const server = await started({ ORIGIN: 'https://public.test, http://other.test:8080' })
    for (const host of ['public.test', 'PUBLIC.test', 'other.test:8080']) {
      expect((await get(server, '/lab', {}, host)).status).toBe(200)
    }
    for (const host of ['evil.test', 'localhost', 'other.test', 'public.test.evil.test', `127.0.0.1:${server.port}`]) {
      expect((await get(server, '/lab', {}, host)).status).toBe(400)
      expect((await get(server, '/healthz', {}, host)).status).toBe(200)
      expect((await get(server, '/readyz', {}, host)).status).toBe(200)
    }
    expect((await get(server, '/healthz/../lab', {}, 'evil.test')).status).toBe(400)
    expect((await get(server, '/readyz?from=probe', {}, '10.0.0.1:3000')).status).toBe(200)
    // How balancers ask that are told nothing else.
    expect((await requestRaw(server.port, 'GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200)
    expect((await requestRaw(server.port, 'GET /lab HTTP/1.0\r\n\r\n')).status).toBe(400)
  })

  test('may name every host with one more label', async () => {
    const server = await started({ ORIGIN: 'https://*.public.test' })
    for (const [host, status] of [
      ['one.public.test', 200],
      ['one.public.test:443', 200],
      ['public.test', 400],
      ['one.two.public.test', 400],
    ] as const) {
      expect([host, (await get(server, '/lab', {}, host)).status]).toEqual([host, status])
    }
    expect((await get(server, '/sitemap.xml', {}, 'one.public.test')).text).toContain('https://one.public.test/lab')
  })
})

describe('TRUST_PROXY', () => {
  const forwarded = { 'X-Forwarded-Host': 'public.test', 'X-Forwarded-Proto': 'https', 'X-Request-Id': 'from-proxy.1' }

  test('lets our proxy say what the visitor asked for', async () => {
    const server = await started({ TRUST_PROXY: '127.0.0.1', ORIGIN: 'https://public.test' })
    const answer = await get(server, '/lab', forwarded, 'inner.test')
    expect(answer.status).toBe(200)
    expect(answer.header('strict-transport-security')).toMatch(/^max-age=\d+/)
    expect(await lineOf(server, { requestId: 'from-proxy.1' })).toMatchObject({ route: '/lab' })
    const plain = await get(server, '/lab', { ...forwarded, 'X-Forwarded-Proto': 'http' }, 'inner.test')
    expect(plain.header('strict-transport-security')).toBeUndefined()
    expect((await get(server, '/lab', { ...forwarded, 'X-Forwarded-Host': 'evil.test' }, 'public.test')).status).toBe(
      400,
    )
  })

  test('need not be said for https: ORIGIN is enough to keep browsers there', async () => {
    const server = await started({ ORIGIN: 'https://public.test' })
    for (const path of ['/lab', '/healthz', '/_m/assets/none.js']) {
      const answer = await get(server, path, {}, 'public.test')
      expect([path, answer.header('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
    }
    // No proxy of ours, so nobody who could say the contrary.
    const forged = await get(server, '/lab', { 'X-Forwarded-Proto': 'http' }, 'public.test')
    expect(forged.header('strict-transport-security')).toBe('max-age=31536000')
  })

  test('takes no request id that could break a log line', async () => {
    const server = await started({ TRUST_PROXY: '127.0.0.1' })
    for (const id of ['a"b', 'a b', 'x'.repeat(65), '{}']) await get(server, '/lab', { 'X-Request-Id': id })
    await server.stop()
    const ids = server.logs().flatMap((line) => (line['route'] === '/lab' ? [line['requestId']] : []))
    expect(ids).toHaveLength(4)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })

  test('without it nobody can', async () => {
    const server = await started({ ORIGIN: 'http://inner.test' })
    const answer = await get(server, '/lab', forwarded, 'inner.test')
    expect(answer.status).toBe(200)
    expect(answer.header('strict-transport-security')).toBeUndefined()
    expect((await get(server, '/lab', { ...forwarded, 'X-Forwarded-Host': 'inner.test' }, 'evil.test')).status).toBe(
      400,
    )
    await server.stop()
    expect(server.logs().some(({ requestId }) => requestId === 'from-proxy.1')).toBe(false)
  })
})
