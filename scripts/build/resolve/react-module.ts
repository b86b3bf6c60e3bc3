import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { OWN_RUNTIME, runtimeModule } from '../runtime.ts'

/** An additional entry, so that React's chunk has the same exports, and is the same file, in every bundle. */
export const REACT_ENTRY = 'millrace:react-entry'

/** Prefix of React's sources in a metafile. */
export const REACT_NAMESPACE = 'react-module'

/** The parts of React that browsers need, by specifier. */
const PARTS = ['react', 'react/jsx-runtime', 'react-dom', 'react-dom/client'] as const

const FREE_DOCUMENT = 'millrace-free-document'

const WHOLE = 'millrace:react'

/**
 * Makes React one ES module for all importers of its parts. The bundler would make several chunks of its CommonJS
 * files, and one more for their helper.
 * @param root the project with React.
 * @param options for bundling it, and the place of its script.
 */
export function reactModule(root: string, options: BuildOptions): Plugin {
  const load = createRequire(join(root, 'package.json'))
  return {
    name: 'react-module',
    setup(building) {
      building.onResolve({ filter: /^millrace:react(?:-entry)?$/ }, ({ path }) => ({
        path,
        namespace: REACT_NAMESPACE,
      }))
      building.onResolve({ filter: /^react(?:-dom)?(?:$|\/)/ }, ({ path }) =>
        PARTS.some((part) => part === path) ? { path, namespace: REACT_NAMESPACE, sideEffects: false } : undefined,
      )
      building.onLoad({ filter: /.*/, namespace: REACT_NAMESPACE }, async ({ path }) => {
        if (path === WHOLE) return { contents: await bundleReact(root, options, load) }
        if (path === REACT_ENTRY) return { contents: `export * from '${WHOLE}'` }
        const at = PARTS.findIndex((part) => part === path)
        return { contents: `export * from '${WHOLE}'\nexport { part${at} as default } from '${WHOLE}'` }
      })
    },
  }
}

/** All parts as one script. A name that several of them export is the same value in each. */
async function bundleReact(root: string, options: BuildOptions, load: NodeJS.Require): Promise<string> {
  const owners = new Map(PARTS.flatMap((part, at) => Object.keys(load(part) as object).map((name) => [name, at])))
  const contents = PARTS.map((part, at) => {
    const names = [...owners].flatMap(([name, owner]) => (owner === at ? [name] : []))
    return `export const part${at} = require('${part}')\nexport const { ${names.join(', ')} } = part${at}`
  })
  // React reads the document as soon as it is loaded.
  const first = [`import { freeDocument } from '${FREE_DOCUMENT}'`, 'freeDocument(globalThis)']
  const { outputFiles } = await build({
    ...options,
    // Its path differs between machines, and would be in the source map, on which the names of scripts depend.
    alias: { ...options.alias, [FREE_DOCUMENT]: runtimeModule(OWN_RUNTIME, 'client/free-document.ts') },
    stdin: { contents: [...first, ...contents].join('\n'), resolveDir: root, sourcefile: REACT_NAMESPACE },
    splitting: false,
    sourcemap: 'inline',
    write: false,
  })
  const [script] = outputFiles
  if (script === undefined) throw new Error('esbuild wrote no script for React.')
  return script.text
}
