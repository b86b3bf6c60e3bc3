import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import vectors from '../vectors/routing.json' with { type: 'json' }
import type { RuleSet } from '../../src/shared/rules/rule-types.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

interface Vector {
  readonly id: string
  readonly routes?: readonly string[]
  readonly rules: RuleSet
  readonly request: { readonly target: string; readonly headers?: Readonly<Record<string, string>> }
  readonly expect: {
    readonly status: number
    readonly location?: string
    readonly renders?: { readonly pattern: string; readonly params: object; readonly query: object }
  }
}

describe('a whole table of rules and pages, over a socket', () => {
  test.for(vectors.endToEndRules as unknown as Vector[])(
    '$id',
    async ({ routes = [], rules, request, expect: expected }) => {
      const { app } = tinyApp({
        routes: Object.fromEntries(routes.map((pattern) => [pattern, tellingPage(pattern)])),
        rules,
      })
      const answer = await get(app, request.target, request.headers)
      app.dispose()

      expect(answer.status).toBe(expected.status)
      if (expected.location !== undefined)
        expect(readLocation(answer.location)).toEqual(readLocation(expected.location))
      if (expected.renders !== undefined) expect(JSON.parse(answer.told)).toEqual(expected.renders)
    },
  )
})

/** A page that tells which one it is and what it was given. */
function tellingPage(pattern: string) {
  return {
    page: page(({ params, search }: { params: object; search: object }) => (
      <pre>{JSON.stringify({ pattern, params, query: search })}</pre>
    )),
    loader: moduleOf({ loader: () => null }),
  }
}

interface Answer {
  readonly status: number
  readonly location: string
  readonly told: string
}

/** By `node:http`, which sends a target and a Host as they are. */
function get(
  app: ReturnType<typeof tinyApp>['app'],
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const server = app.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      httpRequest({ host: '127.0.0.1', port, path, headers: { connection: 'close', ...headers } }, (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
        response.on('end', () => {
          server.close()
          const told = /<pre>(.*)<\/pre>/s.exec(body)?.[1] ?? ''
          resolve({
            status: response.statusCode ?? 0,
            location: response.headers.location ?? '',
            told: told
              .replaceAll('&quot;', '"')
              .replaceAll('&#x27;', "'")
              .replaceAll('&lt;', '<')
              .replaceAll('&amp;', '&'),
          })
        })
      })
        .on('error', reject)
        .end()
    })
  })
}

/** Path and hash as they are; the query as a sorted list of decoded pairs. */
function readLocation(location: string): object {
  const [, path, query, hash] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/.exec(location) ?? []
  const pairs = [...new URLSearchParams(query)].toSorted(([a, x], [b, y]) => (a + x < b + y ? -1 : 1))
  return { path, pairs, hash: hash ?? '', ascii: /^[\x20-\x7e]*$/.test(location) }
}
