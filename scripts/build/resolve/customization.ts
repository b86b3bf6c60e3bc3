import type { BuildOptions as EsbuildOptions, Plugin, PluginBuild } from 'esbuild'
import type { Customization } from '../build-options.ts'
import type { BuildPlugin } from '../define-config.ts'
import { noteResolver } from './look-up.ts'

/** The plugins of one side, for one build. */
export function pluginsOf({ plugins }: Customization = {}, side: 'browser' | 'server'): readonly Plugin[] {
  const own = (plugins?.[side] ?? []) as readonly BuildPlugin[] as readonly Plugin[]
  const namespaces = new Set(['file'])
  return own.map(({ name, setup }) => ({ name, setup: (build) => setup(withoutOurFiles(build, namespaces)) }))
}

/**
 * A filter without a namespace matches in every namespace: a plugin for `.scss` would also load the stand-ins that the
 * build puts in the place of stylesheets. It gets files, and what plugins of the project have resolved.
 * @param namespaces of these, shared by the plugins of a build.
 */
function withoutOurFiles(build: PluginBuild, namespaces: Set<string>): PluginBuild {
  return {
    ...build,
    onResolve(options, resolve) {
      noteResolver(build, options.filter)
      build.onResolve(options, async (args) => {
        const result = await resolve(args)
        if (result?.namespace !== undefined) namespaces.add(result.namespace)
        return result
      })
    },
    onLoad(options, load) {
      const isOpen = options.namespace === undefined
      build.onLoad(options, (args) => (isOpen && !namespaces.has(args.namespace) ? undefined : load(args)))
    },
  }
}

/** The replacements for constants, as esbuild takes them. */
export function constantsOf({ define = {} }: Customization = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)]))
}

/** The constant that `src/shared/base-path.ts` reads. */
export function basePathDefine(basePath: string): Record<string, string> {
  return { 'globalThis.MILLRACE_BASE_PATH': JSON.stringify(basePath) }
}

/** The aliases, as an option of esbuild. */
export function aliasOf({ alias }: Customization = {}): Pick<EsbuildOptions, 'alias'> {
  return alias === undefined ? {} : { alias: { ...alias } }
}

/** What an alias puts in the place of a name, by esbuild's rules: of the whole, or of what is before a slash. */
export function aliasFor(path: string, alias: Readonly<Record<string, string>> = {}): string | undefined {
  const whole = alias[path]
  if (whole !== undefined) return whole
  const key = Object.keys(alias).find((one) => path.startsWith(`${one}/`))
  return key === undefined ? undefined : `${alias[key]}${path.slice(key.length)}`
}
