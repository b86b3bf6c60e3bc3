import { describe, expect, test } from 'vitest'
import { createDocumentPolicies } from '../../../src/server/render/document-policy.ts'
import { checkOrigins } from '../../../src/server/request/named-origins.ts'

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
    expect(check).toThrow(`security.formTargets: '${origin}' is no origin.`)
  })
})
