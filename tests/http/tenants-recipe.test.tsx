/** The recipe "Serve several tenants by subdomain" of the chapter How to: no host but a tenant's own shows its pages. */
import { readFile } from 'node:fs/promises'
import { useActionState } from 'react'
import request from 'supertest'
import { beforeEach, expect, test } from 'vitest'
import type { RuleSet } from '../../src/shared/rules/rule-types.ts'
import { signIn } from '../fixtures/recipes/how-to/tenants/actions.server.ts'
import * as session from '../fixtures/recipes/how-to/tenants/session.server.ts'
import { moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

let site: TinyApp

function SignInPage() {
  const [state, formAction] = useActionState(signIn, null)
  return (
    <form action={formAction}>
      <p role="alert">{state?.kind === 'invalid' && state.errors['']}</p>
    </form>
  )
}

beforeEach(async () => {
  const chapter = await readFile(new URL('../../docs/how-to.md', import.meta.url), 'utf8')
  const printed = /## Serve several tenants by subdomain\n.*?```ts\n(.*?)```/s.exec(chapter)?.[1] ?? ''
  // oxlint-disable-next-line no-implied-eval, no-new-func -- what readers copy
  const rules = new Function(`return {${printed}}`)() as RuleSet
  site = tinyApp({
    routes: {
      '/': { notFound: page(() => <p>missing</p>) },
      '/tenants/[tenant]/orders': {
        page: page(({ data }: { readonly data: string }) => <p>orders of {data}</p>),
        loader: moduleOf({ loader: ({ params }: { readonly params: { readonly tenant: string } }) => params.tenant }),
      },
      '/tenants/[tenant]/sign-in': { page: page(SignInPage) },
      '/tenants/[tenant]/(members)': { guard: moduleOf(session) },
      '/tenants/[tenant]/(members)/private': { page: page(() => <p>private</p>) },
    } as never,
    rules,
    environment: { ORIGIN: 'https://example.com,https://*.example.com' },
  })
  site.app.readiness.markReady()
})

test.for(['shop', 'mill'])('%s sees its own orders', async (tenant) => {
  const { text } = await request(site.app).get('/orders').set('Host', `${tenant}.example.com`).expect(200)
  expect(text).toContain(`orders of <!-- -->${tenant}`)
})

test.for(['example.com', 'a_b.example.com', 'shop.example.com', 'a.b.example.com'])(
  'the pages of a tenant are not reached by their path, on %s',
  async (host) => {
    for (const path of [
      '/tenants/mill/orders',
      '/tenants/mill/orders?a=1',
      '/%74enants/mill/orders',
      '/tenants//mill/orders/',
    ]) {
      for (const prefix of ['', '/_m/data']) {
        const { text, status } = await request(site.app)
          .get(prefix + path)
          .set('Host', host)
        if (prefix === '') expect([path, status]).not.toEqual([path, 200])
        else expect(text).not.toContain('"data":"mill"')
        expect(text).not.toContain('orders of')
      }
    }
  },
)

async function signedIn(tenant: string, password: string) {
  const host = `${tenant}.example.com`
  const { text: form } = await request(site.app).get('/sign-in').set('Host', host).expect(200)
  const [, path = ''] = /action="([^"]*)"/.exec(form) ?? []
  const hidden = [...form.matchAll(/name="(\$[^"]*)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])
  const { headers, text } = await request(site.app)
    .post(path.replaceAll('&amp;', '&'))
    .set({ Host: host, Origin: `https://${host}` })
    .type('form')
    .send({ ...Object.fromEntries(hidden), name: 'ada', password })
  const cookie = ([headers['set-cookie'] ?? []].flat() as string[]).map((one) => one.split(';')[0]).join('; ')
  return { cookie, text }
}

test('a session of one tenant is none at another, whose user has the same id', async () => {
  const { cookie } = await signedIn('shop', 'shop')
  const open = (tenant: string) =>
    request(site.app)
      .get('/private')
      .set({ Host: `${tenant}.example.com`, Cookie: cookie })
  expect((await open('shop')).status).toBe(200)
  expect((await open('mill')).status).toBe(401)
})

test('wrong passwords at one tenant keep nobody out of another', async () => {
  for (let tries = 0; tries < 10; tries++) await signedIn('mill', 'wrong')
  expect((await signedIn('mill', 'mill')).text).toContain('You have tried too often.')
  expect((await signedIn('shop', 'shop')).cookie).not.toBe('')
})
