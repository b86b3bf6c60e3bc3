import type { OnResolveArgs, PluginBuild, ResolveResult } from 'esbuild'

/** Marks a plugin's own question to the resolver, so that no plugin answers it with a question of its own. */
const LOOK_UP = Symbol('look-up')

/** Whether this resolution was asked for by a plugin: every plugin here leaves those to esbuild. */
export function isLookUp({ pluginData }: Pick<OnResolveArgs, 'pluginData'>): boolean {
  return pluginData === LOOK_UP
}

/** What esbuild itself would resolve this import to; `undefined` when it finds nothing. */
export async function lookUp(
  build: PluginBuild,
  { path, kind, importer, resolveDir }: Pick<OnResolveArgs, 'path' | 'kind' | 'importer' | 'resolveDir'>,
): Promise<ResolveResult | undefined> {
  const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: LOOK_UP })
  return found.errors.length > 0 ? undefined : found
}
