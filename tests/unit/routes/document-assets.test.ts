import { expect, test } from 'vitest'
import { createDocumentAssets } from '../../../src/server/routes/render/route-assets.ts'
import type { DocumentPolicies } from '../../../src/server/routes/render/document-policy.ts'
import { NO_ASSETS } from '../../../src/server/assets/manifest.ts'

const MANIFEST = {
  ...NO_ASSETS,
  entry: '/_m/assets/client.js',
  entryImports: ['/_m/assets/react.js'],
  entryStyles: ['/_m/assets/site.css'],
  valueDecoder: ['/_m/assets/decoder.js'],
  segments: { '/': { page: { scripts: ['/_m/assets/page.js'], styles: [] } } },
}
const VIEW = { chain: [{ key: '/', definition: {} }], params: {}, search: {}, data: {} }
const POLICIES = {} as DocumentPolicies

test('scripts of a document wait for what is seen first: stylesheets keep their priority', () => {
  const assets = createDocumentAssets(MANIFEST, { policiesFor: () => POLICIES })(VIEW)
  const head = assets.head('n', true)
  const preloads = head.match(/<link rel="modulepreload"[^>]*>/g) ?? []
  expect(preloads).toHaveLength(4)
  for (const preload of preloads) expect(preload).toContain(' fetchpriority="low" ')
  expect(head.match(/<link rel="stylesheet"[^>]*>/g)?.join('')).not.toContain('fetchpriority')
  expect(assets.link('n')).toBe(
    '</_m/assets/site.css>; rel=preload; as=style, ' +
      '</_m/assets/client.js>; rel=modulepreload; fetchpriority=low; nonce="n"',
  )
})
