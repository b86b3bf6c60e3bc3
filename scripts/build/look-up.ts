import type { OnResolveArgs, PluginBuild, ResolveResult } from 'esbuild'

/** Marks a plugin's own resolution, so that plugins do not call each other endlessly. */
const LOOK_UP = Symbol('look-up')

/** Whether a plugin requested this resolution: every plugin here leaves those to esbuild. */
export function isLookUp({ pluginData }: Pick<OnResolveArgs, 'pluginData'>): boolean {
  return pluginData === LOOK_UP
}

/** esbuild's own resolution of an import; `undefined` if it finds nothing. */
export async function lookUp(
  build: PluginBuild,
  { path, kind, importer, resolveDir }: Pick<OnResolveArgs, 'path' | 'kind' | 'importer' | 'resolveDir'>,
): Promise<ResolveResult | undefined> {
  const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: LOOK_UP })
  return found.errors.length > 0 ? undefined : found
}
