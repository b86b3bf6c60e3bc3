import { gzipSync } from 'node:zlib'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'

const shared = fileURLToPath(new URL('../../../src/shared/', import.meta.url))

// What a visitor downloads before the first click, so it has a bound of its own.
const MATCHING_LIMIT_BYTES = 2048

it('the browser gets matching and links in under 2 kB, and none of the fault texts', async () => {
  const result = await build({
    stdin: {
      contents: "export { createRouteTable } from './route-table.ts'; export { href } from './href.ts'",
      resolveDir: shared,
    },
    bundle: true,
    minify: true,
    format: 'esm',
    metafile: true,
    write: false,
  })
  const code = result.outputFiles[0]?.contents ?? new Uint8Array()
  expect(Object.keys(result.metafile.inputs).filter((path) => /fault|error/.test(path))).toEqual([])
  expect(gzipSync(code).byteLength).toBeLessThan(MATCHING_LIMIT_BYTES)
})
