import { relative } from 'node:path'
import { buildApplication } from '../build/build-application.ts'
import { readBuildArguments } from '../build/build-options.ts'
import { sizeTable } from '../build/size-table.ts'

const PROGRESS_MS = 1_000 // what takes longer says that it is at work

/**
 * `millrace build`: a production build, with the size of each of its chunks.
 * @throws {BuildFault} or esbuild's failure.
 */
export async function build(args: readonly string[]): Promise<void> {
  const started = performance.now()
  const options = await readBuildArguments(args)
  const shown = (path: string): string => relative(process.cwd(), path) || path
  const progress = setTimeout(() => console.log(`Building ${shown(options.app)} …`), PROGRESS_MS)
  try {
    const { sizes, warnings, manifest } = await buildApplication(options, process.env)
    if (warnings !== '') console.error(warnings)
    console.log(sizeTable(sizes))
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`\nBuilt ${shown(options.out)} in ${seconds} s, build ${manifest.buildId}.`)
  } finally {
    clearTimeout(progress)
  }
}
