/** Replays C for upstreams that decode what they get: a real nginx, and one behind another. See `README.md`. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '../../support/free-ports.ts'
import { listeningOn, type ListeningServer } from '../../support/listening.ts'
import { runNginx, type RunningNginx } from '../../support/nginx.ts'
import { findProgram } from '../../support/programs.ts'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import { fallbacks, page, tinyApp, type TinyApp } from '../../support/tiny-app.tsx'

/** It lets visitors into `/v1/`, and decodes a path a second time below `/again/`. */
const serverOf = (port: number): string => `server {
  listen 127.0.0.1:${port};
  merge_slashes off;
  location / { return 404; }
  location /v1/ { return 200 "public"; }
  location /admin { return 200 "secret"; }
  location ~ ^/again(?<rest>/.*)$ { proxy_pass http://127.0.0.1:${port}$rest; }
}`

describe.skipIf(findProgram('nginx') === undefined)('an upstream that decodes', () => {
  let nginx: RunningNginx
  let upstream = 0
  let site: TinyApp
  let server: ListeningServer
  const textAt = async (port: number, target: string) => {
    const answer = await requestRaw(port, getRequest(target, { Connection: 'close' }))
    return [answer.status, answer.body.toString().trim()]
  }

  beforeAll(async () => {
    ;[upstream = 0] = await freePorts(1)
    nginx = await runNginx(upstream, serverOf(upstream))
    site = tinyApp({
      routes: { '/': { ...fallbacks('root'), page: page(() => <p>home</p>) } },
      rules: {
        rewrites: [
          { source: '/up/:path*', destination: `http://127.0.0.1:${upstream}/v1/:path*` },
          { source: '/again/:path(.*)', destination: `http://127.0.0.1:${upstream}/again/v1/:path` },
        ],
      },
    })
    server = await listeningOn(createServer(site.app))
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
    site?.app.dispose()
    await nginx?.[Symbol.asyncDispose]()
  })

  test('control: asked without us it climbs, and it answers what does not climb', async () => {
    expect(await textAt(upstream, '/v1/..%2fadmin')).toEqual([200, 'secret'])
    expect(await textAt(upstream, '/again/v1/..%252fadmin')).toEqual([200, 'secret'])
    expect(await textAt(server.port, '/up/a%3f')).toEqual([200, 'public'])
    expect(await textAt(upstream, '/v1%2fadmin')).toEqual([200, 'public'])
    expect(await textAt(server.port, '/up/..a/b..')).toEqual([200, 'public'])
  })

  test.for([
    '/up/a%2fb',
    '/again/a%252fb',
    '/up/..%2fadmin',
    '/up/..%2Fadmin',
    '/up/%2e%2e%2fadmin',
    '/up/a%2f..%2f..%2fadmin',
    '/up/x/..%2f..%2fadmin',
    '/up/..%5cadmin',
    '/up/..;/admin',
    '/up/..%3bx%2fadmin',
    '/up/..%3f',
    '/again/..%253f',
    '/again/..%252fadmin',
    '/again/%252e%252e%252fadmin',
    '/again/a%252f..%252f..%252fadmin',
  ])('%s does not get there', async (target) => {
    expect(await textAt(server.port, target)).toEqual([400, 'Bad request'])
  })
})
