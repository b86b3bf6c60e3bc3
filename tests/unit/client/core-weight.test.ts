import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { browserOptions } from '../../../scripts/build/bundle-options.ts'

const ROOT = join(import.meta.dirname, '../../..')
const APP = join(ROOT, 'tests/fixtures/bare-app')

// What a page needs before it is alive, over React and without any page or route of an application.
const FIRST_LOAD_LIMIT_BYTES = 4950

// Everything that the browser ever loads of the runtime: the first load, the router, the decoder of values; not calls.
const TOTAL_LIMIT_BYTES = 24_064

// What pages load that have forms.
const ACTIONS_LIMIT_BYTES = 3072

const GZIP_LEVEL = 9 // as the build does it

/** Scripts by key of the metafile, each with its size as it travels. */
const bundle: { metafile: Metafile; bytes: ReadonlyMap<string, number> } = {
  metafile: { inputs: {}, outputs: {} },
  bytes: new Map(),
}

beforeAll(async () => {
  const context = { root: ROOT, app: APP, mode: 'production', defines: {} } as const
  const { outputFiles = [], metafile } = await build(browserOptions(context, []))
  const sizes = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), gzipSync(contents, { level: GZIP_LEVEL }).byteLength]),
  )
  bundle.metafile = metafile ?? bundle.metafile
  bundle.bytes = new Map(scripts().map((key) => [key, sizes.get(basename(key)) ?? 0]))
})

/** All scripts but those of packages: React, and what the bundler needs for it. */
function scripts(): readonly string[] {
  return Object.keys(bundle.metafile.outputs).filter(
    (key) => key.endsWith('.js') && inputsOf(key).some((input) => !input.includes('node_modules/')),
  )
}

function inputsOf(key: string): readonly string[] {
  return Object.keys(bundle.metafile.outputs[key]?.inputs ?? {})
}

function callsActions(key: string): boolean {
  return inputsOf(key).includes('src/client/actions/call-action.ts')
}

/** What the entry imports statically, the entry included. */
function firstLoad(): readonly string[] {
  const { outputs } = bundle.metafile
  const entry = scripts().find((key) => outputs[key]?.entryPoint?.endsWith('bare-app/client.tsx'))
  const reached = new Set(entry === undefined ? [] : [entry])
  for (const key of reached) {
    for (const { path, kind } of outputs[key]?.imports ?? []) if (kind === 'import-statement') reached.add(path)
  }
  return scripts().filter((key) => reached.has(key))
}

function weightOf(keys: readonly string[]): number {
  return keys.reduce((sum, key) => sum + (bundle.bytes.get(key) ?? 0), 0)
}

/** Sources of these scripts in `src/client/core`, by file name. */
function coreOf(keys: readonly string[]): string[] {
  const inputs = keys.flatMap(inputsOf).filter((input) => input.startsWith('src/client/core/'))
  return inputs.map((input) => basename(input)).toSorted()
}

describe('what the browser loads of the runtime, gzip, over React', () => {
  test('before a page is alive', () => {
    expect(weightOf(firstLoad())).toBeGreaterThan(FIRST_LOAD_LIMIT_BYTES / 2)
    expect(weightOf(firstLoad())).toBeLessThanOrEqual(FIRST_LOAD_LIMIT_BYTES)
  })

  test('with all that comes later', () => {
    expect(weightOf(scripts().filter((key) => !callsActions(key)))).toBeLessThanOrEqual(TOTAL_LIMIT_BYTES)
  })

  test('with calls of actions', () => {
    expect(scripts().filter(callsActions)).toHaveLength(1)
    expect(weightOf(scripts().filter(callsActions))).toBeLessThanOrEqual(ACTIONS_LIMIT_BYTES)
  })

  test('nothing of it is left out of the count', () => {
    expect(coreOf(scripts())).toEqual(readdirSync(join(ROOT, 'src/client/core')).toSorted())
    const inputs = scripts().flatMap(inputsOf)
    for (const file of ['protocol/decode-values.ts', 'protocol/decode-route-data.ts', 'match-routes.ts']) {
      expect(inputs).toContain(`src/shared/${file}`)
    }
    expect(inputs).toContain('src/client/react/route-tree.tsx')
  })

  test('the router comes after the page, but for what reads the document', () => {
    expect(coreOf(firstLoad())).toEqual(['read-hand-off.ts', 'server-failures.ts'])
  })
})
