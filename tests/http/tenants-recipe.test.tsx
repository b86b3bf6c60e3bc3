/** The recipe "Serve several tenants by subdomain" of the chapter How to: no host but a tenant's own shows its pages. */
import { readFile } from 'node:fs/promises'
import request from 'supertest'
import { beforeEach, expect, test } from 'vitest'
import type { RuleSet } from '../../src/shared/rules/rule-types.ts'
import { moduleOf, page, tinyApp, type TinyApp } from '../support/tiny-app.tsx'

let site: TinyApp

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
