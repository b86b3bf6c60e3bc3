import { readdirSync } from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import type { Plugin } from 'esbuild'

/** The name of every file that declares actions. */
export const ACTIONS_FILE = 'actions.server.ts'

const NAMESPACE = 'action-modules'

/**
 * The files of an application that declare actions: those called `actions.server.ts`, at any depth.
 * @param app the application's folder.
 * @returns sorted paths in that folder, with forward slashes on every platform.
 */
export function actionModules(app: string): readonly string[] {
  const paths = readdirSync(app, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'))
  return paths.filter(declaresActions).toSorted()
}

/** The same path for one file; `undefined` if it does not declare actions. */
export function actionModule(app: string, file: string): string | undefined {
  const path = relative(app, file)
  if (isAbsolute(path)) return undefined // on another drive; paths outside on the same drive begin with `..`
  const module = path.split(sep).join('/')
  return declaresActions(module) ? module : undefined
}

/** Excludes packages, hidden folders and everything outside the application. */
function declaresActions(module: string): boolean {
  const parts = module.split('/')
  return parts.at(-1) === ACTIONS_FILE && parts.every((part) => part !== 'node_modules' && !part.startsWith('.'))
}

/** Provides all of them to the server's main module, as `millrace:actions`. */
export function actionRegistry(app: string): Plugin {
  return {
    name: 'action-registry',
    setup(build) {
      build.onResolve({ filter: /^millrace:actions$/ }, ({ path }) => ({ path, namespace: NAMESPACE }))
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => {
        const modules = actionModules(app).map((module, index) => ({ module, local: `module${index}` }))
        const imports = modules.map(
          ({ module, local }) => `import * as ${local} from ${JSON.stringify(`./${module}`)}\n`,
        )
        const members = modules.map(({ module, local }) => `  ${JSON.stringify(module)}: ${local},\n`)
        return { contents: `${imports.join('')}export default {\n${members.join('')}}\n`, resolveDir: app }
      })
    },
  }
}
