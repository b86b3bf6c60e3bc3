import type { Plugin } from 'esbuild'

/** Which files plugins of a project may change, judged by what they register. */
export interface PluginClaims {
  /** Whether a plugin may load this file itself. */
  loads(file: string): boolean
  /** Whether a file may differ with these plugins: any, if one resolves imports or changes options or results. */
  changes(file: string): boolean
}

export async function pluginClaims(plugins: readonly Plugin[]): Promise<PluginClaims> {
  const filters: RegExp[] = []
  const state = { isOpen: false }
  const open = (): void => void (state.isOpen = true)
  for (const { setup } of plugins) {
    const initialOptions = {}
    const recorder = {
      initialOptions,
      onLoad({
        filter: { source, flags },
        namespace = 'file',
      }: {
        readonly filter: RegExp
        readonly namespace?: string
      }) {
        // Without the flags by which an expression remembers its last match.
        if (namespace === 'file') filters.push(new RegExp(source, flags.replaceAll(/[gy]/g, '')))
      },
      onResolve: open,
      onStart: () => undefined,
      onEnd: open,
      onDispose: () => undefined,
      resolve: async () => ({ errors: [], warnings: [], path: '' }),
    }
    await setup(recorder as never)
    if (Object.keys(initialOptions).length > 0) open()
  }
  const loads = (file: string): boolean => filters.some((filter) => filter.test(file))
  return { loads, changes: (file) => state.isOpen || loads(file) }
}
