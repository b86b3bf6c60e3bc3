import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readBuildInputs } from '../project/build-inputs.ts'
import type { BuildOptions } from '../build-options.ts'

/** `build-info.json` beside a build: the inputs of the build. */
export interface BuildInfo {
  /** Hash of all sources and public variables. */
  readonly inputHash: string
  /** As in the manifest. */
  readonly buildId: string
  /** Versions of the build tools, for people. */
  readonly tools: Readonly<Record<string, string>>
}

/** Name of the file in the output folder. */
export const BUILD_INFO = 'build-info.json'

/** Why a folder has to be built before it can be served; `undefined` if it is up to date. */
export function staleness(
  options: BuildOptions,
  env: Readonly<Record<string, string | undefined>>,
): 'missing' | 'stale' | undefined {
  const file = join(options.out, BUILD_INFO)
  if (!existsSync(file) || !existsSync(join(options.out, 'server/main.js'))) return 'missing'
  const info: Partial<BuildInfo> = JSON.parse(readFileSync(file, 'utf8'))
  return info.inputHash === readBuildInputs(options, env).hash ? undefined : 'stale'
}
