import type { BuildOptions as EsbuildOptions, Plugin } from 'esbuild'
import type { BuildPlugin, MillraceConfig } from './define-config.ts'

/** The part of a config that changes bundles. */
export type Customization = Pick<MillraceConfig, 'plugins' | 'alias' | 'define' | 'targets'>

/** The plugins of one side. */
export function pluginsOf({ plugins }: Customization = {}, side: 'browser' | 'server'): readonly Plugin[] {
  return (plugins?.[side] ?? []) as readonly BuildPlugin[] as readonly Plugin[]
}

/** The replacements for constants, as esbuild takes them. */
export function constantsOf({ define = {} }: Customization = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)]))
}

/** The aliases, as an option of esbuild. */
export function aliasOf({ alias }: Customization = {}): Pick<EsbuildOptions, 'alias'> {
  return alias === undefined ? {} : { alias: { ...alias } }
}

/**
 * Finds out which files plugins load themselves, by the filters that they register.
 * @returns whether one of them may load a file.
 */
export async function claimedFiles(plugins: readonly Plugin[]): Promise<(file: string) => boolean> {
  const filters: RegExp[] = []
  const ignored = (): void => undefined
  for (const plugin of plugins) {
    const recorder = {
      initialOptions: {},
      onLoad: ({ filter, namespace = 'file' }: { readonly filter: RegExp; readonly namespace?: string }) =>
        namespace === 'file' && filters.push(filter),
      onResolve: ignored,
      onStart: ignored,
      onEnd: ignored,
      onDispose: ignored,
      resolve: async () => ({ errors: [], warnings: [], path: '' }),
    }
    await plugin.setup(recorder as never)
  }
  return (file) => filters.some((filter) => filter.test(file))
}
