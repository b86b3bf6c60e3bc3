import { mkdir, mkdtempDisposable } from 'node:fs/promises'
import { join } from 'node:path'
import { createAssetFiles } from '../build/assets/asset-files.ts'
import { checkBuildOptions, displayPath } from '../build/build-options.ts'
import { readBuildArguments } from '../build/project/locate-application.ts'
import { cssFiles } from '../build/assets/css-files.ts'
import { createCssModules } from '../build/assets/css-modules.ts'
import { pluginsOf } from '../build/resolve/customization.ts'
import type { ApplicationFacts } from '../build/project/inspect-application.ts'
import { readApplication } from '../build/project/read-application.ts'
import { serverPackages } from '../build/resolve/server-packages.ts'

/**
 * `millrace routes`: the route table, each pattern with the modules it brings, and the rules.
 * @throws {BuildFault} as a build does.
 */
export async function routes(args: readonly string[]): Promise<void> {
  const options = await readBuildArguments(args, { hasOutput: false })
  checkBuildOptions(options)
  const { root, app } = options
  // In the project, where Node finds its packages.
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  await using folder = await mkdtempDisposable(join(cache, 'millrace-routes-'))
  const plugins = [
    ...pluginsOf(options.customization, 'server'),
    createAssetFiles().plugin,
    cssFiles(root, createCssModules(root, pluginsOf(options.customization, 'browser'))),
    serverPackages(options),
  ]
  const facts = await readApplication({ ...options, mode: 'production', defines: {} }, folder.path, plugins)
  console.log(routeList(facts, `${displayPath(root, app)}/`))
}

/**
 * The table as text.
 * @param folder the application's, from the project: left out of the paths.
 */
function routeList({ sources, urls, variants, rules }: ApplicationFacts, folder: string): string {
  const modules = Object.entries(sources).map(([pattern, kinds]) => {
    const brought = Object.entries(kinds).map(([kind, source]) => `${kind} ${source.replace(folder, '')}`)
    const { params = {}, linked, cache, shell } = urls[pattern] ?? {}
    const by = variants[pattern] === undefined ? '' : `, one for each ${variants[pattern].join(' and ')}`
    const limits = Object.entries(params).map(([name, list]) => `${name}: ${list.join(' | ')}`)
    const said = [
      ...brought,
      ...limits,
      ...(linked === false ? ['no link leads to it'] : []),
      ...(cache === undefined ? [] : [`kept for all visitors${by}`]),
      ...(shell === undefined ? [] : ['sent before its loader is done']),
    ]
    return [pattern, said.join(', ') || '(nothing)'] as const
  })
  return [aligned(modules), aligned(rules)].filter((part) => part !== '').join('\n\n')
}

function aligned(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `${first.padEnd(width)}  ${second}`).join('\n')
}
