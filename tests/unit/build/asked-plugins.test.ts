/** What esbuild asks plugins about: each question takes it a tenth of a millisecond, and packages have thousands of files. */
import type { OnLoadOptions, PluginBuild } from 'esbuild'
import { expect, test } from 'vitest'
import { createAssetFiles } from '../../../scripts/build/assets/asset-files.ts'
import { createCssModules } from '../../../scripts/build/assets/css-modules.ts'
import { createFileUrls } from '../../../scripts/build/assets/file-urls.ts'

test('the server has the files of packages loaded without a question about URLs in them', () => {
  const context = { root: '/p', app: '/p/src/app', mode: 'production', defines: {} } as const
  const urls = createFileUrls(context, { assets: createAssetFiles(''), modules: createCssModules('/p', []) })
  const filters: RegExp[] = []
  const build = { onLoad: ({ filter }: OnLoadOptions) => void filters.push(filter) }
  void urls.server({ waits: false, copyOf: async () => undefined }).setup(build as unknown as PluginBuild)
  const isAsked = (file: string): boolean => filters.some((filter) => filter.test(file))
  expect(isAsked('/p/src/app/mail.server.ts')).toBe(true)
  expect(isAsked('/p/node_modules/mail/index.js')).toBe(false)
})
