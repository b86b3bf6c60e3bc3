import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { browserOptions } from '../../../scripts/build/bundle-options.ts'
import { REACT_NAMESPACE } from '../../../scripts/build/resolve/react-module.ts'

const ROOT = join(import.meta.dirname, '../../..')
const APP = join(ROOT, 'tests/fixtures/bare-app')
const WITH_LINKS = join(ROOT, 'tests/fixtures/consent-app')
const WITH_HOOKS = join(ROOT, 'tests/bench/every-hook')

// Chunks import each other by names with hashes, which compress to a few bytes more or less: each limit has room for that.

// What a page needs before it is alive, over React and without any page or route of an application.
const FIRST_LOAD_LIMIT_BYTES = 4830

// Everything that the browser ever loads of the runtime: the first load, the router, the decoder of values; not calls.
const TOTAL_LIMIT_BYTES = 30_500

// What pages load that have forms.
const ACTIONS_LIMIT_BYTES = 3800

// What they load ahead, after everything else, for the moment when nothing can be loaded.
const TROUBLES_LIMIT_BYTES = 3140

// What pages load with something to type in, after everything else; and what hides a page that a former user has left.
const DRAFTS_LIMIT_BYTES = 4_400

// No other script is as large by far.
const LEAST_REACT_BYTES = 150_000

const GZIP_LEVEL = 9 // as the build does it

/** Scripts by key of the metafile, each with its size as it travels. */
const bundle: { metafile: Metafile; bytes: ReadonlyMap<string, number>; texts: ReadonlyMap<string, string> } = {
  metafile: { inputs: {}, outputs: {} },
  bytes: new Map(),
  texts: new Map(),
}

function bundleApp(app: string) {
  const context = { root: ROOT, app, mode: 'production', defines: {} } as const
  return build({ ...browserOptions(context, []), metafile: true, write: false })
}

beforeAll(async () => {
  const { outputFiles, metafile } = await bundleApp(APP)
  const sizes = new Map(
    outputFiles.map(({ path, contents }) => [basename(path), gzipSync(contents, { level: GZIP_LEVEL }).byteLength]),
  )
  bundle.metafile = metafile
  bundle.texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
  bundle.bytes = new Map(scripts().map((key) => [key, sizes.get(basename(key)) ?? 0]))
})

/** All scripts but React. */
function scripts(metafile = bundle.metafile): readonly string[] {
  const isOwn = (key: string): boolean => inputsOf(key, metafile).some((input) => !input.startsWith(REACT_NAMESPACE))
  return Object.keys(metafile.outputs).filter((key) => key.endsWith('.js') && isOwn(key))
}

/** The name of React's script, which follows from its contents. */
function reactOf({ outputs }: Metafile): readonly string[] {
  return Object.keys(outputs).filter((key) => (outputs[key]?.bytes ?? 0) > LEAST_REACT_BYTES && key.endsWith('.js'))
}

function inputsOf(key: string, { outputs } = bundle.metafile): readonly string[] {
  return Object.keys(outputs[key]?.inputs ?? {})
}

function callsActions(key: string): boolean {
  return inputsOf(key).includes('src/client/actions/call-action.ts')
}

function isForTroubles(key: string): boolean {
  return inputsOf(key).includes('src/client/actions/call-troubles.ts')
}

function isForDrafts(key: string): boolean {
  return inputsOf(key).includes('src/client/core/page/draft-keeper.ts')
}

/** What the entry imports statically, the entry included, without React. */
function firstLoad(metafile = bundle.metafile): readonly string[] {
  const { outputs } = metafile
  const entry = Object.keys(outputs).find((key) => outputs[key]?.entryPoint?.endsWith('/client.tsx'))
  const reached = new Set(entry === undefined ? [] : [entry])
  for (const key of reached) {
    for (const { path, kind } of outputs[key]?.imports ?? []) if (kind === 'import-statement') reached.add(path)
  }
  return scripts(metafile).filter((key) => reached.has(key))
}

function weightOf(keys: readonly string[]): number {
  return keys.reduce((sum, key) => sum + (bundle.bytes.get(key) ?? 0), 0)
}

/** Sources of these scripts in `src/client/core`, by file name. */
function coreOf(keys: readonly string[]): string[] {
  const inputs = keys.flatMap((key) => inputsOf(key)).filter((input) => input.startsWith('src/client/core/'))
  return inputs.map((input) => basename(input)).toSorted()
}

// What a page loads to show faults at its fields, with what of it other pages load too.
const FIELDS_LIMIT_BYTES = 2000
const FORM_LIMIT_BYTES = 1100
// With what puts HTML that has names into its element, after React's file has freed it.
const HTML_LIMIT_BYTES = 1510
const LOCATION_LIMIT_BYTES = 613
const BOUNDARY_LIMIT_BYTES = 1200

describe('what a page loads of the runtime for a feature, gzip', () => {
  /** What the browser loads of the runtime for these names of `millrace`, without React. */
  async function weightOfNames(...names: readonly string[]): Promise<number> {
    const { outputFiles } = await build({
      stdin: { contents: `export { ${names.join(', ')} } from 'millrace'`, resolveDir: ROOT },
      bundle: true,
      minify: true,
      format: 'esm',
      conditions: ['millrace-source'],
      external: ['react', 'react/jsx-runtime', 'react-dom'],
      jsx: 'automatic',
      write: false,
    })
    return gzipSync(outputFiles[0]?.contents ?? '', { level: GZIP_LEVEL }).byteLength
  }

  test('fields with their faults', async () => {
    expect(await weightOfNames('useField', 'Field', 'FieldError')).toBeLessThanOrEqual(FIELDS_LIMIT_BYTES)
  })

  test('a form for search params, and the location', async () => {
    expect(await weightOfNames('Form')).toBeLessThanOrEqual(FORM_LIMIT_BYTES)
    expect(await weightOfNames('useLocation')).toBeLessThanOrEqual(LOCATION_LIMIT_BYTES)
  })

  test('HTML of a loader', async () => {
    expect(await weightOfNames('Html')).toBeLessThanOrEqual(HTML_LIMIT_BYTES)
  })

  test('a boundary for a part of a page', async () => {
    expect(await weightOfNames('ErrorBoundary')).toBeLessThanOrEqual(BOUNDARY_LIMIT_BYTES)
  })
})

test('no script and no source map knows the folder of its sources: its name follows from both', () => {
  expect([...bundle.texts.keys()].some((name) => name.endsWith('.map'))).toBe(true)
  expect([...bundle.texts].flatMap(([name, text]) => (text.includes(ROOT) ? [name] : []))).toEqual([])
})

describe('what the browser loads of the runtime, gzip, over React', () => {
  test('before a page is alive', () => {
    expect(weightOf(firstLoad())).toBeGreaterThan(FIRST_LOAD_LIMIT_BYTES / 2)
    expect(weightOf(firstLoad())).toBeLessThanOrEqual(FIRST_LOAD_LIMIT_BYTES)
  })

  test('with all that comes later', () => {
    const others = [callsActions, isForTroubles, isForDrafts]
    expect(weightOf(scripts().filter((key) => !others.some((isFor) => isFor(key))))).toBeLessThanOrEqual(
      TOTAL_LIMIT_BYTES,
    )
  })

  test('with calls of actions', () => {
    expect(scripts().filter(callsActions)).toHaveLength(1)
    expect(weightOf(scripts().filter(callsActions))).toBeLessThanOrEqual(ACTIONS_LIMIT_BYTES)
  })

  test('with what a call needs that cannot be sent', () => {
    expect(scripts().filter(isForTroubles)).toHaveLength(1)
    expect(weightOf(scripts().filter(isForTroubles))).toBeLessThanOrEqual(TROUBLES_LIMIT_BYTES)
  })

  test('with what keeps typed input', () => {
    expect(scripts().filter(isForDrafts)).toHaveLength(1)
    expect(weightOf(scripts().filter(isForDrafts))).toBeLessThanOrEqual(DRAFTS_LIMIT_BYTES)
  })

  test('nothing of it is left out of the count', () => {
    const core = readdirSync(join(ROOT, 'src/client/core'), { recursive: true, encoding: 'utf8' })
    // Types alone leave nothing to load.
    const loaded = core.filter((path) => path.endsWith('.ts') && !path.endsWith('router-parts.ts'))
    expect(coreOf(scripts())).toEqual(loaded.map((path) => basename(path)).toSorted())
    const inputs = scripts().flatMap((key) => inputsOf(key))
    for (const file of ['protocol/decode-values.ts', 'protocol/decode-route-data.ts', 'match-routes.ts']) {
      expect(inputs).toContain(`src/shared/${file}`)
    }
    expect(inputs).toContain('src/client/react/route-tree.tsx')
  })

  test('the router comes after the page, but for what reads the document', () => {
    expect(coreOf(firstLoad())).toEqual(['read-hydration-data.ts', 'server-failures.ts'])
  })

  test('the router is one file: what it had to ask for in its turn would come a journey later', () => {
    const router = scripts().filter((key) => inputsOf(key).includes('src/client/start-router.ts'))
    const imported = router.flatMap((key) => bundle.metafile.outputs[key]?.imports ?? [])
    const asked = imported.filter(({ kind, path }) => kind === 'import-statement' && !firstLoad().includes(path))
    expect(router).toHaveLength(1)
    expect(asked.map(({ path }) => path)).toEqual(reactOf(bundle.metafile))
  })

  test('is one file beside the application and React', () => {
    expect(firstLoad()).toHaveLength(2)
    expect(firstLoad().filter((key) => inputsOf(key).some((input) => input.startsWith('src/')))).toHaveLength(1)
  })

  test('before a page is alive has nothing that other pages import from the same place as the route table', async () => {
    const { metafile } = await bundleApp(WITH_LINKS)
    const first = firstLoad(metafile)
    const files = first.flatMap((key) => inputsOf(key, metafile))
    expect(files).toContain('src/client/entry.tsx')
    expect(files).toContain('tests/fixtures/consent-app/routes.ts')
    expect(files).not.toContain('src/client/react/link.tsx')
    expect(first).toHaveLength(2)
  })

  test('leaves React the same file for every application, whatever that uses of it', async () => {
    const other = await bundleApp(WITH_HOOKS)
    expect(reactOf(bundle.metafile)).toHaveLength(1)
    expect(reactOf(other.metafile)).toEqual(reactOf(bundle.metafile))
  })
})
