import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { requiredHttp } from '../../../scripts/build/resolve/required-http.ts'

const SOURCE = `import { createServer, STATUS_CODES } from 'node:http'
const client = process.moduleLoadList.filter((name) => /undici|http2/.test(name))
console.log(JSON.stringify({ client, works: typeof createServer, ok: STATUS_CODES[200] }))`

/** Bundles a server, runs it, and reads what it has to say. */
async function runBundled(plugins: Parameters<typeof build>[0]['plugins']): Promise<Record<string, unknown>> {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    banner: { js: `import { createRequire } from 'node:module'\nconst require = createRequire('file:///')` },
    ...(plugins === undefined ? {} : { plugins }),
  })
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-'], { input: outputFiles?.[0]?.text ?? '' })
  return JSON.parse(String(stdout)) as Record<string, unknown>
}

test("a server does not load Node's HTTP client by listening", async () => {
  expect(await runBundled([requiredHttp()])).toEqual({ client: [], works: 'function', ok: 'OK' })
})

test('which an import of the same names does: else this is of no use any more', async () => {
  expect((await runBundled(undefined))['client']).not.toEqual([])
})
