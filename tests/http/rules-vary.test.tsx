/** What answers say of rules whose conditions depend on the visitor, so that a shared cache keeps them apart. */
import supertest from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import type { RuleSet } from '../../src/shared/rules/rule-types.ts'
import { portOf } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { httpUpstream } from './proxy-setup.ts'

const PUBLIC = { 'Cache-Control': 'public, max-age=60' }
const language = { type: 'header', key: 'Accept-Language', value: 'de.*' } as const
const member = { type: 'cookie', key: 'member' } as const

function site(rules: RuleSet) {
  return tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <p>home</p>) },
      '/a': {
        page: page(() => <p>a</p>),
        loader: moduleOf({
          loader({ context }: LoaderArgs) {
            context.headers.set('Cache-Control', PUBLIC['Cache-Control'])
            return {}
          },
        }),
      },
      '/b': { page: page(() => <p>b</p>) },
      '/file': { handler: moduleOf({ GET: () => new Response('file', { headers: { ...PUBLIC, Vary: 'Origin' } }) }) },
    } as never,
    rules,
  }).app
}

async function varyOf(rules: RuleSet, target: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await supertest(site(rules)).get(target).set(headers).redirects(0)
  const lines = answer.headers['vary'] as string | undefined
  return (lines ?? '')
    .toLowerCase()
    .split(', ')
    .filter((name) => name !== '')
    .toSorted()
}

describe('an answer varies by what conditions have looked at', () => {
  const visitors = [{}, { 'Accept-Language': 'de' }, { 'Accept-Language': 'en', Cookie: 'member=1' }]

  test.for(visitors)('of a rewrite, a redirect and a header rule, held or not: %j', async (headers) => {
    const rewrite: RuleSet = { rewrites: { beforeFiles: [{ source: '/a', has: [language], destination: '/b' }] } }
    expect(await varyOf(rewrite, '/a', headers)).toEqual(['accept-encoding', 'accept-language'])
    const redirect: RuleSet = {
      redirects: [{ source: '/a', missing: [language], destination: '/b', permanent: false }],
    }
    expect(await varyOf(redirect, '/a', headers)).toContain('accept-language')
    const header: RuleSet = { headers: [{ source: '/a', has: [member], headers: [{ key: 'x', value: '1' }] }] }
    expect(await varyOf(header, '/a', headers)).toEqual(['accept-encoding', 'cookie'])
    expect(await varyOf(header, '/file', headers)).toEqual(['accept-encoding', 'origin'])
    const file: RuleSet = { headers: [{ source: '/file', has: [member], headers: [{ key: 'x', value: '1' }] }] }
    expect(await varyOf(file, '/file', headers)).toEqual(['accept-encoding', 'cookie', 'origin'])
  })

  test('and by nothing that no rule for its path looks at, or that is in the URL', async () => {
    const rules: RuleSet = {
      redirects: [
        { source: '/elsewhere', has: [language, member], destination: '/b', permanent: false },
        { source: '/a', has: [{ type: 'query', key: 'x' }, member], destination: '/b', permanent: false },
        { source: '/a', has: [{ type: 'host', value: 'x' }, member], destination: '/b', permanent: false },
      ],
    }
    expect(await varyOf(rules, '/a')).toEqual(['accept-encoding'])
    expect(await varyOf(rules, '/a?x')).toContain('cookie')
  })

  test('in one line, whoever else adds to it', async () => {
    const rules: RuleSet = {
      headers: [{ source: '/a', has: [language], missing: [member], headers: [{ key: 'Vary', value: 'X-Own' }] }],
    }
    const names = ['accept-encoding', 'accept-language', 'cookie', 'x-own']
    expect(await varyOf(rules, '/a', { 'Accept-Language': 'de' })).toEqual(names)
  })

  test('of the data of a page too', async () => {
    const rules: RuleSet = { rewrites: { beforeFiles: [{ source: '/a', has: [language], destination: '/b' }] } }
    expect(await varyOf(rules, '/_m/data/a')).toContain('accept-language')
  })

  test('that another origin gives', async () => {
    const upstream = await httpUpstream((_, res) => void res.writeHead(200, { ...PUBLIC, Vary: 'X-Up' }).end('up'))
    onTestFinished(() => upstream[Symbol.asyncDispose]())
    const destination = `http://127.0.0.1:${upstream.port}/`
    const app = site({ rewrites: { fallback: [{ source: '/up', has: [member], destination }] } })
    const answer = await fetch(`http://127.0.0.1:${await portOf(app)}/up`, { headers: { Cookie: 'member=1' } })
    expect([await answer.text(), answer.headers.get('vary')]).toEqual(['up', 'Cookie, X-Up'])
  })
})

test('a document that conditions have chosen is not kept for times of overload', async () => {
  const app = site({ headers: [{ source: '/a', has: [language], headers: [{ key: 'x', value: '1' }] }] })
  await supertest(app).get('/a').expect(200)
  expect(app.caches.documents.entries).toBe(0)
  const control = site({})
  await supertest(control).get('/a').expect(200)
  expect(control.caches.documents.entries).toBe(1)
})
