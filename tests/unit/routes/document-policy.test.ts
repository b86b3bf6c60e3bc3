import { describe, expect, test } from 'vitest'
import { createDocumentPolicies } from '../../../src/server/routes/render/document-policy.ts'
import type { PolicySources } from '../../../src/server/api/define-app.ts'
import { checkOrigins } from '../../../src/server/http/named-origins.ts'

describe('what documents may load from beyond the site', () => {
  const policiesWith = (sources: PolicySources) => {
    const { shared, withNonce } = createDocumentPolicies({ inline: [], sources }, true)
    return { shared, own: withNonce('n') }
  }

  test('stands behind what they may load anyway', () => {
    const { shared, own } = policiesWith({
      'img-src': ['https://*.images.example', 'blob:'],
      'style-src': ['https://fonts.example'],
      'connect-src': ['wss://live.example:8443', 'https://api.example'],
      'frame-src': [],
    })
    for (const policy of [shared, own]) {
      expect(policy).toContain("; style-src 'self' 'unsafe-inline' https://fonts.example; ")
      expect(policy).toContain("; img-src 'self' data: https://*.images.example blob:; ")
      expect(policy).toContain("; connect-src 'self' wss://live.example:8443 https://api.example; object-src")
      expect(policy).not.toContain('frame-src')
    }
  })

  test('names scripts where there is no nonce to say which of them run', () => {
    const { shared, own } = policiesWith({ 'script-src': ['https://cdn.example', "'wasm-unsafe-eval'"] })
    expect(shared).toContain("script-src 'self' https://cdn.example 'wasm-unsafe-eval'; ")
    expect(own).toContain("script-src 'nonce-n' 'strict-dynamic' 'wasm-unsafe-eval'; ")
  })

  test('allows an inline script by its hash in every document', () => {
    const hash = `'sha256-${'a'.repeat(43)}='`
    const { shared, own } = policiesWith({ 'script-src': [hash] })
    expect(shared).toContain(`script-src 'self' ${hash}; `)
    expect(own).toContain(`script-src 'nonce-n' 'strict-dynamic' ${hash}; `)
  })

  test.for([
    ['img-src', 'images.example'],
    ['img-src', 'https://images.example/path'],
    ['img-src', "https://images.example; script-src 'unsafe-inline'"],
    ['img-src', 'https:'],
    ['img-src', '*'],
    ['script-src', "'unsafe-inline'"],
    ['script-src', "'unsafe-eval'"],
    ['script-src', 'data:'],
    ['script-src', "'sha256-short='"],
    ['script-src', `'sha256-${'a'.repeat(43)}=' 'unsafe-inline'`],
    ['style-src', `'sha256-${'a'.repeat(43)}='`],
  ] as const)('cannot be, in %s, %s', ([directive, source]) => {
    expect(() => policiesWith({ [directive]: [source] })).toThrow(`${directive} cannot have '${source}'`)
  })

  test('is said by directives that can be added to', () => {
    const sources = { 'frame-ancestors': ['https://other.example'] } as PolicySources
    expect(() => policiesWith(sources)).toThrow("security.sources: 'frame-ancestors' cannot be added to. These can: ")
  })
})

describe('the policy of a document', () => {
  test('lets forms lead to this site alone', () => {
    const { shared, withNonce } = createDocumentPolicies({ inline: [] }, true)
    for (const policy of [shared, withNonce('n')]) expect(policy).toContain("; form-action 'self'; ")
  })

  test('lets forms lead to the sites that the application has named', () => {
    const formTargets = ['https://login.example.com', 'http://127.0.0.1:8080']
    const { shared, withNonce } = createDocumentPolicies({ inline: ["'sha256-x'"], formTargets }, true)
    for (const policy of [shared, withNonce('n')]) {
      expect(policy).toContain("; form-action 'self' https://login.example.com http://127.0.0.1:8080; ")
    }
    expect(shared).toContain("script-src 'self' 'sha256-x';")
  })
})

describe('an origin that an application names', () => {
  test.for(['https://a.example', 'http://localhost:3000', 'http://[::1]:81'])('%s is one', (origin) => {
    expect(checkOrigins('security.formTargets', [origin])).toEqual([origin])
  })

  test.for([
    'https://a.example/',
    'https://a.example/path',
    'https://A.example',
    'https://a.example:443',
    'https://*.example',
    'https://user@a.example',
    "https://a.example;script-src 'unsafe-inline'",
    'https://a;b.example',
    'https://a,b.example',
    'ftp://a.example',
    'javascript:alert(1)',
    "'self'",
    'a.example',
    '',
  ])('%s is none, and is named', (origin) => {
    const check = (): unknown => checkOrigins('security.formTargets', ['https://fine.example', origin])
    expect(check).toThrow(TypeError)
    expect(check).toThrow(`security.formTargets: '${origin}' is not an origin.`)
  })
})
