import type { Metafile } from 'esbuild'
import { expect, test } from 'vitest'
import { runtimeChunks } from '../../bench/router-weight.ts'

type Output = Metafile['outputs'][string]

function output(sources: readonly string[], more: Partial<Output> = {}): Output {
  const inputs = Object.fromEntries(sources.map((source) => [source, { bytesInOutput: 1 }]))
  return { bytes: 1, inputs, imports: [], exports: [], ...more }
}

function imported(path: string, kind: 'import-statement' | 'dynamic-import') {
  return { path, kind }
}

const METAFILE: Metafile = {
  inputs: {},
  outputs: {
    'dist/client.js': output(['app/client.tsx', 'src/client/entry.tsx'], {
      entryPoint: 'app/client.tsx',
      imports: [
        imported('dist/react.js', 'import-statement'),
        imported('dist/router.js', 'dynamic-import'),
        imported('dist/page.js', 'dynamic-import'),
      ],
    }),
    'dist/react.js': output(['node_modules/react/index.js']),
    'dist/router.js': output(['src/client/core/navigation/router.ts'], {
      entryPoint: 'src/client/core/navigation/router.ts',
    }),
    'dist/shared.js': output(['src/client/react/link.tsx']),
    'dist/page.js': output(['app/page.tsx'], { entryPoint: 'app/page.tsx' }),
    'dist/helpers.js': output([]),
    'dist/client.js.map': output([]),
    'dist/react-entry.js': output(['react-module:millrace:react-entry'], {
      entryPoint: 'react-module:millrace:react-entry',
    }),
  },
}

test('the whole router is what comes first and all that can come later, but for the pages of the application', () => {
  const { first, later } = runtimeChunks(METAFILE, 'app/client.tsx', ['app/page.tsx'])
  expect(first).toEqual(['dist/client.js', 'dist/react.js'])
  expect(later).toEqual(['dist/router.js', 'dist/shared.js', 'dist/helpers.js'])
})

test('a chunk that holds some of the runtime counts, whatever else is in it', () => {
  const outputs = { ...METAFILE.outputs, 'dist/page.js': output(['app/page.tsx', 'src/shared/href.ts']) }
  const { later } = runtimeChunks({ ...METAFILE, outputs }, 'app/client.tsx', ['app/page.tsx'])
  expect(later).toContain('dist/page.js')
})

test('a bundle of something else is refused by name', () => {
  expect(() => runtimeChunks(METAFILE, 'app/other.tsx', [])).toThrow('app/other.tsx')
})
