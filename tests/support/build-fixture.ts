import { join, resolve } from 'node:path'
import { buildApplication } from '../../scripts/build/build-application.ts'
import type { TempDir } from './temp-dir.ts'

const PROJECT = resolve(import.meta.dirname, '../..')

/** How it is built. */
interface FixtureBuild {
  readonly basePath?: string
  /** `PUBLIC_*`. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * Builds a folder of tests/fixtures.
 * @returns the build's folder, in `into`.
 */
export async function buildFixture(
  fixture: string,
  into: TempDir,
  { basePath, env = {} }: FixtureBuild = {},
): Promise<string> {
  const out = join(into.path, 'dist')
  const app = join(PROJECT, 'tests/fixtures', fixture)
  await buildApplication({ root: PROJECT, app, out, ...(basePath !== undefined && { basePath }) }, env)
  return out
}
