import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { makeTempDir, type TempDir } from './temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** A build of its own, that differs from the one in `dist` by its id and by one file. */
export interface BuildCopy extends AsyncDisposable {
  /** Absolute path of the server's bundle. */
  readonly entry: string
  readonly buildId: string
  /** URL path of an asset that no other build has. */
  readonly ownAsset: string
}

/**
 * Copies `dist`, for tests of what happens between two builds.
 * @param buildId 16 hexadecimal digits.
 */
export async function copyBuild(buildId: string): Promise<BuildCopy> {
  const folder: TempDir = await makeTempDir('build')
  const dist = join(folder.path, 'dist')
  await cp(join(PROJECT, 'dist'), dist, { recursive: true })
  await symlink(join(PROJECT, 'node_modules'), join(folder.path, 'node_modules'))
  const manifest = JSON.parse(await readFile(join(dist, 'manifest.json'), 'utf8')) as Record<string, unknown>
  await writeFile(join(dist, 'manifest.json'), JSON.stringify({ ...manifest, buildId }))
  await writeFile(join(dist, 'public', `only-${buildId}.js`), `// of build ${buildId}\n`)
  return {
    entry: join(dist, 'server/main.js'),
    buildId,
    ownAsset: `/_m/assets/only-${buildId}.js`,
    [Symbol.asyncDispose]: () => folder.remove(),
  }
}
