import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { buildApplication, type BuildReport } from '../build/build-application.ts'
import { BuildFault } from '../build/build-fault.ts'
import { APP_ARGUMENT, locateApplication, OUT_ARGUMENT } from '../build/project/locate-application.ts'
import { readArguments } from '../build/project/read-arguments.ts'
import { sizeTable } from '../build/output/size-table.ts'

const PROGRESS_MS = 1_000 // what takes longer says that it is at work

const ARGUMENTS = {
  ...APP_ARGUMENT,
  ...OUT_ARGUMENT,
  analyze: { value: 'text|json', alone: 'text' },
  quiet: { value: '' },
} as const

/** In the build's folder, beside `public`: no server sends it. */
const ANALYSIS_FILE = 'analysis.json'

/**
 * `millrace build`: a production build, with the size of each of its chunks and, if asked, what is in them. `--quiet` prints
 * one line, and what to fix.
 * @throws {BuildFault} or esbuild's failure.
 */
export async function build(args: readonly string[]): Promise<void> {
  const started = performance.now()
  process.env['NODE_ENV'] = 'production' // configs and their plugins read it
  const values = readArguments(args, ARGUMENTS)
  const form = analysisForm(values.analyze)
  const options = await locateApplication(values)
  const shown = (path: string): string => relative(process.cwd(), path) || path
  const isQuiet = values.quiet !== undefined
  const say = isQuiet ? () => undefined : console.log
  const progress = setTimeout(() => say(`Building ${shown(options.app)} …`), PROGRESS_MS)
  try {
    const report = await buildApplication(options, process.env)
    const { sizes, warnings, manifest } = report
    if (warnings !== '') console.error(warnings)
    say(sizeTable(sizes))
    if (form === 'text') console.log(`\n${await analysisOf(report)}`)
    if (form === 'json') {
      const file = join(options.out, ANALYSIS_FILE)
      await writeFile(file, `${JSON.stringify(await report.analyze(), undefined, 2)}\n`)
      console.log(`\nWrote ${shown(file)}.`)
    }
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    console.log(`${isQuiet ? '' : '\n'}Built ${shown(options.out)} in ${seconds} s, build ${manifest.buildId}.`)
  } finally {
    clearTimeout(progress)
  }
}

async function analysisOf(report: BuildReport): Promise<string> {
  const { analysisText } = await import('../build/output/analysis-text.ts')
  return analysisText(await report.analyze())
}

function analysisForm(value: string | undefined): 'text' | 'json' | undefined {
  if (value === undefined || value === 'text' || value === 'json') return value
  throw new BuildFault(`--analyze is '${value}': it takes text, which is also its meaning alone, or json.`)
}
