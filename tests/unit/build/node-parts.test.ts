import { resolve } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { expect, test } from 'vitest'
import { withoutBrowserParts, withoutServer } from '../../../scripts/build/sides/node-parts.ts'
import { CONDITIONS, OWN_RUNTIME, runtimeModule } from '../../../scripts/build/runtime.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

/** What a bundle is made of. */
async function bundled(entry: string): Promise<Metafile['inputs']> {
  const { metafile } = await build({
    entryPoints: [runtimeModule(OWN_RUNTIME, entry)],
    absWorkingDir: ROOT,
    outdir: ROOT,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    conditions: CONDITIONS,
    plugins: [withoutBrowserParts(), withoutServer()],
  })
  return metafile.inputs
}

test('the bundle of a server has nothing that browsers load after hydration', async () => {
  const inputs = await bundled('client/index.ts')
  expect(Object.keys(inputs)).toContain('src/client/react/link.tsx')
  expect(Object.keys(inputs)).not.toContain('src/client/entry.tsx')
  const later = Object.values(inputs).flatMap(({ imports }) =>
    imports.flatMap(({ kind, path }) => (kind === 'dynamic-import' ? path : [])),
  )
  expect(later.filter((path) => path !== 'node-parts:part')).toEqual([])
})

test('the bundle that reads an application has nothing that answers requests', async () => {
  const inputs = Object.keys(await bundled('server/index.ts'))
  expect(inputs).toContain('src/server/api/define-app.ts')
  expect(inputs).toContain('node-parts:createApp')
  expect(inputs.filter((input) => /^src\/(?:server\/(?:app|create-app|open-request)|client)/.test(input))).toEqual([])
})
