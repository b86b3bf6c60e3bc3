import type { Plugin } from 'esbuild'

/**
 * Finds out which files the plugins of a project may change, by what they register.
 * @returns whether a file may be another one with these plugins: any file, where one of them resolves imports, changes the
 * build's options or its result.
 */
export async function pluginClaims(plugins: readonly Plugin[]): Promise<(file: string) => boolean> {
  const filters: RegExp[] = []
  const state = { isOpen: false }
  const open = (): void => void (state.isOpen = true)
  for (const { setup } of plugins) {
    const initialOptions = {}
    const recorder = {
      initialOptions,
      onLoad: ({ filter }: { readonly filter: RegExp }) =>
        filters.push(new RegExp(filter.source, filter.flags.replaceAll(/[gy]/g, ''))),
      onResolve: open,
      onStart: () => undefined,
      onEnd: open,
      onDispose: () => undefined,
      resolve: async () => ({ errors: [], warnings: [], path: '' }),
    }
    await setup(recorder as never)
    if (Object.keys(initialOptions).length > 0) open()
  }
  return (file) => state.isOpen || filters.some((filter) => filter.test(file))
}
