import { join, resolve } from 'node:path'
import { build } from 'esbuild'

/** Module formats of files, as esbuild tells them from their text. */
export async function formatsOf(root: string, files: readonly string[]): Promise<ReadonlyMap<string, 'cjs' | 'esm'>> {
  if (files.length === 0) return new Map()
  const { metafile } = await build({
    entryPoints: [...files],
    absWorkingDir: root,
    bundle: false,
    write: false,
    metafile: true,
    logLevel: 'silent',
    outdir: join(root, 'dist/formats'),
  })
  return new Map(Object.entries(metafile.inputs).map(([key, { format }]) => [resolve(root, key), format ?? 'cjs']))
}
