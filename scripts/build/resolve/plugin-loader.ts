import type { OnLoadResult, Plugin, PluginBuild } from 'esbuild'

type OnLoad = PluginBuild['onLoad']

/** Loads a file with the first plugin that gives a result; `undefined` if none does. */
type PluginLoader = (file: string) => Promise<OnLoadResult | undefined>

/**
 * Sets plugins up inside of a build that loads files itself, and asks the plugins for the text of each.
 * @param build of the plugin that calls this, for everything else that the plugins register.
 */
export async function pluginLoader(build: PluginBuild, plugins: readonly Plugin[]): Promise<PluginLoader> {
  const loaders: { readonly filter: RegExp; readonly pluginName: string; readonly load: Parameters<OnLoad>[1] }[] = []
  for (const { name: pluginName, setup } of plugins) {
    const onLoad: OnLoad = ({ filter, namespace = 'file' }, load) => {
      if (namespace === 'file') loaders.push({ filter, pluginName, load })
    }
    await setup({ ...build, onLoad, onResolve: () => undefined })
  }
  return async (file) => {
    for (const { filter, pluginName, load } of loaders) {
      const args = { path: file, namespace: 'file', suffix: '', pluginData: undefined, with: {} }
      const result = filter.test(file) ? await load(args) : undefined
      if (result === undefined || result === null) continue
      return { ...result, errors: (result.errors ?? []).map((error) => ({ pluginName, ...error })) }
    }
    return undefined
  }
}
