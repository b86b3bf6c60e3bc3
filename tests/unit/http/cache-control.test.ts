import { expect, test } from 'vitest'
import { isTargetedCaching } from '../../../src/server/http/cache-control.ts'

test.each([
  'CDN-Cache-Control',
  'Netlify-CDN-Cache-Control',
  'cloudflare-cdn-cache-control',
  'X-LiteSpeed-Cache-Control',
  'Akamai-Cache-Control',
  'X-Cache-Control',
  'Surrogate-Control',
  'X-Surrogate-Control',
  'Edge-Control',
  'X-Accel-Expires',
  'X-Reverse-Proxy-TTL',
  'X-Varnish-TTL',
])('%s tells some caches how long to store', (name) => {
  expect(isTargetedCaching(name)).toBe(true)
})

test.each([
  'Cache-Control',
  'cache-control',
  'Expires',
  'X-Session-TTL',
  'Access-Control',
  'Cache-Tag',
  'X-Cache-Status',
])('%s does not', (name) => {
  expect(isTargetedCaching(name)).toBe(false)
})
