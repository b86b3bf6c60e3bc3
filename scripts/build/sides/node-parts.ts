import { sep } from 'node:path'
import type { Plugin } from 'esbuild'
import { isLookUp } from '../resolve/look-up.ts'
import { literally } from '../path-filter.ts'
import { OWN_RUNTIME, runtimeModule, type Runtime } from '../runtime.ts'

const NAMESPACE = 'node-parts'

/** Texts by name. A browser's part is asked for by no server; only its import has to lead somewhere. */
const TEXTS = {
  part: 'export {}',
  hydrate: 'export function hydrate() {}',
  createApp: `export function createApp() {
  throw new Error('createApp cannot run while the build reads the application. Call it in a function that a module exports.')
}`,
} as const

/** What pages load after hydration: all that `src/client` and `src/shared` import dynamically. */
const BROWSER_PARTS = /\/(?:call-action|call-troubles|decode-values|draft-keeper|entry|start-router)\.[jt]sx?$/

/** Leaves out of bundles for Node what the runtime runs in browsers alone: hydration, and the parts that pages load later. */
export function withoutBrowserParts(runtime: Runtime = OWN_RUNTIME): Plugin {
  const index = runtimeModule(runtime, 'client/index.ts')
  const folders = ['client', 'shared'].map((folder) => runtimeModule(runtime, folder) + sep)
  return inPlace('without-browser-parts', BROWSER_PARTS, ({ kind, importer }) => {
    if (kind === 'dynamic-import') return folders.some((folder) => importer.startsWith(folder)) ? 'part' : undefined
    return importer === index ? 'hydrate' : undefined
  })
}

/** Leaves out of the bundle that only reads an application what the runtime answers requests with, React included. */
export function withoutServer(runtime: Runtime = OWN_RUNTIME): Plugin {
  const index = runtimeModule(runtime, 'server/index.ts')
  const name = runtimeModule(runtime, 'server/create-app.ts').slice(runtimeModule(runtime, 'server').length)
  return inPlace('without-server', new RegExp(`${literally(name)}$`), ({ importer }) =>
    importer === index ? 'createApp' : undefined,
  )
}

interface Import {
  readonly path: string
  readonly kind: string
  readonly importer: string
}

function inPlace(name: string, filter: RegExp, textOf: (args: Import) => keyof typeof TEXTS | undefined): Plugin {
  return {
    name,
    setup(build) {
      build.onResolve({ filter }, (args) => {
        const text = isLookUp(args) ? undefined : textOf(args)
        return text && { path: text, namespace: NAMESPACE, sideEffects: false }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: TEXTS[path as keyof typeof TEXTS],
        loader: 'js',
      }))
    },
  }
}
