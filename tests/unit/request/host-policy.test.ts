import { describe, expect, test } from 'vitest'
import { allowsSharing, mergePolicy } from '../../../src/server/request/answer/host-policy.ts'
import { CONSTANT_PAGE_POLICY } from '../../../src/server/request/answer/security-headers.ts'
import { createDocumentPolicies } from '../../../src/server/routes/render/document-policy.ts'

const NONCE = "'nonce-n1'"
const HASH = "'sha256-h1='"
const FILES = 'shop.test/shop/_m/assets/'

const policies = createDocumentPolicies({ inline: [HASH] }, true)
const merged = (set: string | string[], own = policies.withNonce('n1'), secure = true) =>
  mergePolicy(set, { own, host: 'shop.test', assetsPath: '/shop/_m/assets/', secure })
const forbidden = (set: string, secure = true) => merged(set, undefined, secure).forbidden

/** As helmet 8 sets it by default. */
const HELMET =
  "default-src 'self';base-uri 'self';font-src 'self' https: data:;form-action 'self';frame-ancestors 'self';" +
  "img-src 'self' data:;object-src 'none';script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline';" +
  'upgrade-insecure-requests'

describe('the nonce of a document joins', () => {
  test.for([
    ["script-src 'self'", `script-src 'self' ${NONCE}`],
    ["Script-Src\t'self' https://cdn.test ; img-src *", `Script-Src 'self' https://cdn.test ${NONCE}; img-src *`],
    ["script-src 'none'", `script-src ${NONCE}`],
    ["script-src 'NONE'", `script-src ${NONCE}`],
    ['script-src', `script-src ${NONCE}`],
    ["script-src 'nonce-host' 'strict-dynamic'", `script-src 'nonce-host' 'strict-dynamic' ${NONCE}`],
    ["script-src-elem 'self'", `script-src-elem 'self' ${NONCE}`],
    ["script-src 'self'; script-src-elem a.test", `script-src 'self' ${NONCE}; script-src-elem a.test ${NONCE}`],
    ["script-src 'self'; script-src a.test", `script-src 'self' ${NONCE}; script-src a.test`],
    ["default-src 'self'", `default-src 'self'; script-src 'self' ${NONCE}; style-src 'self' ${NONCE}`],
    ["default-src 'none';", `default-src 'none';script-src ${NONCE}; style-src ${NONCE}`],
    ["script-src 'self';style-src 'self'", `script-src 'self' ${NONCE};style-src 'self' ${NONCE}`],
    // With a nonce, browsers would ignore 'unsafe-inline'.
    ["script-src 'self' 'unsafe-inline'", "script-src 'self' 'unsafe-inline'"],
    ["script-src * 'unsafe-inline'", "script-src * 'unsafe-inline'"],
    ["script-src 'unsafe-inline'", `script-src 'unsafe-inline' ${FILES}`],
    ["script-src 'unsafe-inline' 'nonce-host'", `script-src 'unsafe-inline' 'nonce-host' ${NONCE}`],
    ["script-src 'unsafe-inline' 'strict-dynamic'", `script-src 'unsafe-inline' 'strict-dynamic' ${NONCE}`],
    ["frame-ancestors 'self'", "frame-ancestors 'self'"],
    ['', ''],
    [HELMET, HELMET.replace("script-src 'self'", `script-src 'self' ${NONCE}`)],
  ] as const)('%s', ([set, value]) => {
    expect(merged(set).value).toBe(value)
  })

  test('each of several policies, in one line or in several', () => {
    expect(merged("script-src 'self', default-src a.test").value).toBe(
      `script-src 'self' ${NONCE}, default-src a.test; script-src a.test ${NONCE}; style-src a.test ${NONCE}`,
    )
    expect(merged(["script-src 'self'", "script-src 'none'"]).value).toEqual([
      `script-src 'self' ${NONCE}`,
      `script-src ${NONCE}`,
    ])
  })

  test('once', () => {
    const { value } = merged(merged(HELMET).value)
    expect(value).toBe(merged(HELMET).value)
  })
})

test.for([
  ["script-src 'self'", `script-src 'self' ${HASH}`],
  ["script-src 'none'", `script-src 'self' ${HASH}`],
  ['script-src https://cdn.test', `script-src https://cdn.test 'self' ${HASH}`],
  // Caches send the page to visitors of other hosts than the one that was asked for.
  ['script-src https://shop.test', `script-src https://shop.test 'self' ${HASH}`],
  [
    "script-src https: 'unsafe-inline'; style-src 'unsafe-inline'",
    "script-src https: 'unsafe-inline'; style-src 'unsafe-inline' 'self'",
  ],
  ["default-src 'self'; style-src 'self'", `default-src 'self'; style-src 'self'; script-src 'self' ${HASH}`],
  ["script-src 'unsafe-inline' 'self'", "script-src 'unsafe-inline' 'self'"],
] as const)('a document that caches may share adds its hashes, and this site for its files: %s', ([set, value]) => {
  expect(merged(set, policies.shared).value).toBe(value)
})

test.for([
  [undefined, true],
  [HELMET, true],
  ["script-src 'self' 'nonce-host'", false],
  ["default-src 'STRICT-dynamic' 'sha256-x='", false],
  [["img-src 'self'", "script-src 'nonce-host'"], false],
] as const)('caches may share a document under %j: %s', ([set, shared]) => {
  expect(allowsSharing(set)).toBe(shared)
})

test('a page without scripts adds the hash of its style alone', () => {
  const [hash = ''] = /'sha256-[^']+'/.exec(CONSTANT_PAGE_POLICY) ?? []
  const { value, forbidden: lacking } = merged("default-src 'self'; script-src 'self'", CONSTANT_PAGE_POLICY)
  expect(value).toBe(`default-src 'self'; script-src 'self'; style-src 'self' ${hash}`)
  expect(lacking).toEqual([])
  expect(merged(HELMET, CONSTANT_PAGE_POLICY).value).toBe(HELMET)
})

describe('what a policy still forbids is told', () => {
  test.for([
    [HELMET, []],
    ["script-src 'self'", []],
    ["connect-src 'none'", ["connect-src 'self'"]],
    ['connect-src https://shop.test', []],
    ['connect-src shop.test; font-src *.test; img-src https: data:', []],
    ['img-src *', ['img-src data:']],
    ["img-src 'self'", ['img-src data:']],
    ["form-action 'none'", ["form-action 'self'"]],
    ["worker-src 'none'", ["worker-src 'self'"]],
    ["script-src 'strict-dynamic'", []],
    ["style-src 'self'", ["style-src-attr 'unsafe-inline'"]],
    ["style-src-elem 'none'", ["style-src-elem 'self'"]],
    ["require-trusted-types-for 'script'", ['require-trusted-types-for']],
    ['sandbox allow-scripts allow-forms', ['sandbox allow-same-origin']],
    ["default-src 'self'; img-src a.test", ["img-src 'self'", 'img-src data:', "style-src-attr 'unsafe-inline'"]],
  ] as const)('%s', ([set, lacking]) => {
    expect(forbidden(set)).toEqual(lacking)
  })

  test('of plain HTTP that is to be upgraded, but for this machine', () => {
    expect(forbidden(HELMET, false)).toEqual(['upgrade-insecure-requests'])
    const own = policies.withNonce('n1')
    for (const host of ['localhost', 'localhost:3000', 'a.localhost', '127.0.0.1:80', '[::1]:3000']) {
      expect(mergePolicy(HELMET, { own, host, assetsPath: '/_m/assets/', secure: false }).forbidden).toEqual([])
    }
  })

  test('of what the application allows its own pages', () => {
    const sources = { 'connect-src': ['wss://live.test', 'https://api.test'], 'img-src': ['https://pictures.test'] }
    const own = createDocumentPolicies({ inline: [], sources, formTargets: ['https://login.test'] }, true).withNonce(
      'n',
    )
    expect(merged(HELMET, own).forbidden).toEqual([
      'connect-src wss://live.test',
      'connect-src https://api.test',
      'img-src https://pictures.test',
      'form-action https://login.test',
    ])
    const open = "default-src * data: wss:; form-action 'self' https:; style-src * 'unsafe-inline'"
    expect(merged(open, own).forbidden).toEqual([])
  })
})

test.for([
  ';;;',
  ' , ,',
  '\u0000; script-src',
  `${';'.repeat(20_000)}`,
  `${','.repeat(20_000)}`,
  `script-src ${"'self' ".repeat(5_000)}`,
  `default-src${' '.repeat(50_000)}'self'`,
  'script-src \u00fc"\'',
])('a malformed policy throws nothing: %#', (set) => {
  expect(typeof merged(set).value).toBe('string')
})
