import { relative } from 'node:path'
import { readBuildArguments } from './build/build-options.ts'
import { buildApplication } from './build/build-application.ts'
import { describeFault } from './build/esbuild-messages.ts'
import { sizeTable } from './build/size-table.ts'

/** `npm run build [-- --app <folder> --out <folder>]`: a production build, with the size of each of its chunks. */
try {
  const started = performance.now()
  const options = readBuildArguments(process.argv.slice(2))
  const { sizes, warnings, manifest } = await buildApplication(options, process.env)
  if (warnings !== '') console.error(warnings)
  console.log(sizeTable(sizes))
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  console.log(
    `\nBuilt ${relative(process.cwd(), options.out) || options.out} in ${seconds} s, build ${manifest.buildId}.`,
  )
} catch (error) {
  const fault = await describeFault(error)
  if (fault === undefined) throw error
  console.error(fault)
  process.exitCode = 1
}
