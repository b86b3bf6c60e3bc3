/** What visitors claim in headers, and what proxied answers carry. */
import { describe, expect, it } from 'vitest'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { recorded } from './proxy-setup.ts'

describe('what the upstream gets', () => {
  it('has no header by which a proxy says who asks, for what, or how', async () => {
    const claims = (
      'True-Client-IP CF-Connecting-IP CF-Visitor X-ProxyUser-Ip X-Real-IP X-Client-IP Client-IP Fastly-Client-IP X-Forwarded ' +
      'X-Cluster-Client-IP X-Original-Forwarded-For X-Forwarded-Anything X-Original-Host ' +
      'Front-End-HTTPS X-Original-URL X-Rewrite-URL X-Original-URI X-HTTP-Method-Override ' +
      'X-HTTP-Method X-Method-Override Proxy Remote-User X-Remote-User X-Middleware-Subrequest ' +
      'X-Auth-Request-User X-Auth-Request-Email Remote-Groups Remote-Email X-SSL-Client-S-DN X-SSL-Client-Verify ' +
      'X-Amzn-OIDC-Identity X-Goog-Authenticated-User-Email X-Goog-IAP-JWT-Assertion X-MS-Client-Principal ' +
      'X-MS-Client-Principal-Name Tailscale-User-Login Cf-Access-Authenticated-User-Email X-Vercel-Forwarded-For ' +
      'X-NF-Client-Connection-IP Proxy-Client-IP WL-Proxy-Client-IP X-HTTP-Host-Override ' +
      'X-User-Info X-User-Sub X-User-Uuid X-User-Claims X-JWT-Payload X-JWT-Claim-Email X-Okta-Sub X-Authenticated ' +
      'X-RemoteUser X-LDAP-Groups X-MTLS-Subject X-Apigateway-Event X-MS-Token-Google-Id-Token X-Client-CN X-Spiffe-Id ' +
      'Dapr-Caller-App-Id X-Clerk-Auth-Status X-Splunk-Roles X-Permissions X-Entitlements ' +
      'X_Forwarded_For X-Real_IP HTTP_HOST __proto__ Content_Length True_Client_IP'
    ).split(' ')
    await using setup = await recorded()
    const sent = Object.fromEntries(claims.map((name) => [name, 'claimed']))
    await requestRaw(setup.proxy.port, getRequest('/', { ...sent, 'X-Kept': 'kept', Cookie: 'a_b=1' }))
    const headers = setup.received[0]?.headers ?? {}
    expect(Object.entries(headers).filter(([, value]) => value === 'claimed')).toEqual([])
    expect(headers).toMatchObject({ 'x-kept': 'kept', cookie: 'a_b=1', 'x-forwarded-for': '203.0.113.7' })
  })
})

it('has what an application, or a library of the browser, says of itself', async () => {
  const names = (
    'Authorization X-Access-Token X-Api-Key X-Api-Version X-Client-Info X-CSRF-Token X-Device-Id X-Grpc-Web X-Hasura-Role ' +
    'X-Hub-Signature-256 X-ID-Token X-JWT X-JWT-Token X-Request-Id X-Requested-With X-Session-Id X-Splunk-Request-Channel ' +
    'X-Supabase-Api-Version X-Tenant X-User-Agent Apollo-Require-Preflight Stripe-Signature Dapr-App-Id'
  ).split(' ')
  await using setup = await recorded()
  const sent = Object.fromEntries(names.map((name) => [name, 'said']))
  await requestRaw(setup.proxy.port, getRequest('/', sent))
  expect(setup.received[0]?.headers).toMatchObject(
    Object.fromEntries(names.map((name) => [name.toLowerCase(), 'said'])),
  )
})

describe('what the visitor gets', () => {
  it('has the security headers that the upstream does not set', async () => {
    await using setup = await recorded()
    const answer = await requestRaw(setup.proxy.port, getRequest('/'))
    expect(Object.fromEntries(answer.headers.map(([name, value]) => [name.toLowerCase(), value]))).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'strict-transport-security': expect.stringContaining('max-age='),
    })
  })

  it('keeps those that it does', async () => {
    const own = {
      'x-content-type-options': 'own',
      'Referrer-Policy': 'no-referrer',
      'cross-origin-opener-policy': 'unsafe-none',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'permissions-policy': 'fullscreen=()',
      'Strict-Transport-Security': 'max-age=0',
    }
    await using setup = await recorded((_, res) => void res.writeHead(200, own).end('ok'))
    const answer = await requestRaw(setup.proxy.port, getRequest('/'))
    for (const [name, value] of Object.entries(own)) {
      expect(answer.headers.filter(([sent]) => sent.toLowerCase() === name.toLowerCase())).toEqual([[name, value]])
    }
  })
})
